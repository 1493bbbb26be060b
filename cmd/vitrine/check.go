package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"vitrine/cache/origin"
	"vitrine/cache/origin/bolt"
	"vitrine/configs"
	"vitrine/materialize"
	"vitrine/rules/osiris"
	"vitrine/rules/records"
)

// checkCommand examines an embedded store. It opens the file itself and reads all of it, or, if a server has the
// file open, asks that server, which examines the records and rows that it can read while it works. MongoDB has
// commands of its own for that, so for other stores the command is an error.
func checkCommand() *cobra.Command {
	var ofRecords, asJSON bool
	cmd := withConfig("check", func(cmd *cobra.Command, _ []string, cfg configs.Config) error {
		if ofRecords {
			return checkRecords(cmd, cfg, asJSON)
		}
		store := cfg.Store.Reveal()
		path, ok := strings.CutPrefix(store, "bolt://")
		if !ok {
			return errors.New("only an embedded store (bolt://PATH) can be examined for damage; MongoDB has its " +
				"own means. --records reports on the records of both")
		}
		var answer struct{ Data []bolt.Part }
		var err error
		answer.Data, err = bolt.Check(cmd.Context(), path)
		// On any other error than that of a locked store, orServed returns it unchanged.
		err = orServed(cmd.Context(), cfg, err, "/admin/check", nil, &answer)
		if errors.Is(err, origin.ErrDamaged) {
			// ignore the error: standard output may be closed
			_ = output.ExecuteTemplate(cmd.OutOrStdout(), "unusable", store)
		}
		if err != nil {
			return err
		}
		if asJSON {
			return errors.Join(printJSON(cmd.OutOrStdout(), answer.Data), damageOf(answer.Data))
		}
		return printCheck(cmd.OutOrStdout(), store, answer.Data)
	}, "store", "admin.listen", "preset")
	cmd.Flags().BoolVar(&ofRecords, "records", false, "report what records lack that lists need, in any store")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// errFlaws is the result of a report on records with something to repair.
var errFlaws = errors.New("there are records or collections to repair")

// checkRecords prints the report on the records of a store, or of a server that has it open.
func checkRecords(cmd *cobra.Command, cfg configs.Config, asJSON bool) error {
	var answer struct{ Data records.Report }
	err := withStore(cmd.Context(), cfg, func(store origin.Store) error {
		i, err := newInstitute(cfg, store, slog.New(slog.DiscardHandler))
		if err == nil {
			answer.Data, err = i.survey(cmd.Context(), store, func(string) bool { return true })
		}
		return err
	})
	if err = orServed(cmd.Context(), cfg, err, "/admin/check?records=1", nil, &answer); err != nil {
		return err
	}
	if asJSON {
		err = printJSON(cmd.OutOrStdout(), answer.Data)
	} else {
		err = printTable(cmd.OutOrStdout(), "records", answer.Data.Views)
		err = errors.Join(err, output.ExecuteTemplate(cmd.OutOrStdout(), "findings", answer.Data.Lines()))
	}
	if answer.Data.Fault() {
		err = errors.Join(err, errFlaws)
	}
	return err
}

// survey reports what the records of a store lack, of those collections that are wanted.
func (i *institute) survey(ctx context.Context, store origin.Store, wanted func(string) bool) (r records.Report,
	err error) {
	cfg := i.loaded.Load().Config
	jobs, err := newJobs(ctx, cfg, i)
	if err != nil {
		return r, err
	}
	found, err := store.Collections(ctx)
	if err != nil {
		return r, err
	}
	found = slices.DeleteFunc(found, func(name string) bool { return !wanted(name) })
	if r = i.collections(found, jobs); r.Hint != "" {
		for n := range jobs {
			jobs[n].Codes = nil // the names of types are in the database
		}
	}
	r.Views, err = materialize.Survey(ctx, store, jobs, wanted)
	return r, err
}

// collections reports on the names of collections alone.
func (i *institute) collections(found []string, jobs []materialize.Job) (r records.Report) {
	read := materialize.Reads(jobs)
	if i.database != nil {
		read = slices.Concat(read, osiris.ForAnswers(), osiris.ForRendering(), osiris.ForPortal())
	}
	for _, rule := range i.loaded.Load().Upstream.Keep {
		read = append(read, rule.Until...)
	}
	if i.database == nil && slices.Contains(found, osiris.Types) {
		r.Hint = "found " + osiris.Types + ", of a database of OSIRIS: with --preset osiris its own types, names " +
			"and rights count"
		read = append(read, osiris.Administrative()...)
	}
	r.Unread = records.FindUnread(found, read)
	return r
}

// logCollections logs at a start which collections nothing reads. Of an OSIRIS database, which has many for itself,
// it logs only those whose names are probably wrong.
func (i *institute) logCollections(ctx context.Context, store origin.Source, jobs []materialize.Job,
	log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	found, err := store.Collections(ctx)
	if err != nil {
		return // a user of the database may lack the right to list them
	}
	r := i.collections(found, jobs)
	r.Unread = slices.DeleteFunc(r.Unread, func(u records.Unread) bool { return i.database != nil && !u.Fault() })
	for _, line := range r.Lines() {
		log.Warn("collections", "finding", line)
	}
}

// checker returns the function that checks an open store, or nil if it is not an embedded one. The server offers it
// as GET /admin/check. The type is asked of the store that was opened, because the circuit around it hides the
// methods of one kind of store.
func checker(store origin.Store) func(context.Context) (any, error) {
	embedded, ok := store.(*bolt.Store)
	if !ok {
		return nil
	}
	return func(ctx context.Context) (any, error) { return embedded.Check(ctx) }
}

// printCheck writes a line for each part, the damaged values and advice. Its error wraps origin.ErrDamaged if a part
// is damaged.
func printCheck(w io.Writer, store string, parts []bolt.Part) error {
	var advice []string // advice for each damaged part
	for _, p := range parts {
		if p.Sound() {
			continue
		}
		var text strings.Builder
		if err := output.ExecuteTemplate(&text, "advice", map[string]any{"Part": p, "Store": store}); err != nil {
			return err
		}
		advice = append(advice, text.String())
	}
	if err := errors.Join(printTable(w, "check", parts), output.ExecuteTemplate(w, "damage", parts)); err != nil {
		return err
	}
	// Damage of several parts often has one cure, such as to build the views again: each cure is printed once.
	wrong := damageOf(parts)
	slices.Sort(advice) // print the same advice for several parts only once
	for _, text := range slices.Compact(advice) {
		fmt.Fprint(w, text)
	}
	if wrong == nil {
		fmt.Fprintln(w, "Nothing is damaged.")
	}
	return wrong
}

// damageOf returns an error that wraps origin.ErrDamaged if a part is damaged.
func damageOf(parts []bolt.Part) error {
	damaged := 0
	for _, p := range parts {
		if !p.Sound() {
			damaged++
		}
	}
	if damaged == 0 {
		return nil
	}
	return fmt.Errorf("%w: %d of %d parts", origin.ErrDamaged, damaged, len(parts))
}
