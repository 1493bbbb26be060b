package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"vitrine/cache/origin"
	"vitrine/cache/origin/dump"
	"vitrine/cmd/vitrine/internal/control"
	"vitrine/configs"
	"vitrine/rules/records"
)

// importCommand stores a dump in the configured store, which may be MongoDB, a new embedded one, or an embedded one
// that a server has open. It touches only
// collections of records: the views that a server shows change when its jobs next run.
func importCommand() *cobra.Command {
	var from dump.Options
	var to dump.LoadOptions
	cmd := withConfig("import", func(cmd *cobra.Command, paths []string, cfg configs.Config) error {
		from.Stdin = cmd.InOrStdin()
		return runImport(cmd, cfg, paths, from, to)
	}, "store", "preset")
	cmd.Args = cobra.MinimumNArgs(1)
	flags := cmd.Flags()
	flags.BoolVar(&to.Drop, "drop", false,
		"delete what the dump does not hold from the imported collections, after everything is stored")
	flags.BoolVar(&to.SkipBad, "skip-bad", false, "skip malformed documents, count and list them")
	flags.StringVar(&from.Collection, "collection", "",
		"`NAME` to store a file's documents under; of a folder or archive, the only one to import")
	flags.StringVar(&from.Database, "db", "", "`NAME` of the database to take from a dump of several")
	flags.Int64Var(&from.StdinBytes, "stdin-bytes", dump.DefaultStdinBytes,
		"`NUMBER` of bytes read at most of standard input")
	flags.IntVar(&to.BatchDocs, "batch", 0, "`NUMBER` of documents stored at once (default 1000)")
	return cmd
}

// runImport loads a dump and prints a report, after an error, too: the records stored before it stay. The order of
// the deferred calls matters: the store closes first, then an incomplete new store is removed, then the dump
// closes.
func runImport(cmd *cobra.Command, cfg configs.Config, paths []string, from dump.Options,
	to dump.LoadOptions) (err error) {
	ctx, started := cmd.Context(), time.Now()
	read, said := 0, started
	from.Progress = func(n int) {
		// Standard input has no size and so no bar; a line every ten seconds shows that the import goes on.
		if read += n; time.Since(said) > 10*time.Second {
			said = time.Now()
			fmt.Fprintln(cmd.ErrOrStderr(), "import:", read, "bytes of standard input")
		}
	}
	d, err := dump.Open(ctx, paths, from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	for _, note := range d.Notes {
		fmt.Fprintln(cmd.ErrOrStderr(), "note:", note)
	}
	undo := undoCreate(embeddedPath(cfg))
	store, err := openTarget(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() {
		failed := err != nil
		if err = errors.Join(err, store.Close()); failed && undo != nil {
			err = errors.Join(err, undo()) // an incomplete store must not be served
		}
	}()

	bar := newBar(cmd.ErrOrStderr(), 2*d.Size(), "import", // twice, because Load reads everything twice
		progressbar.OptionShowBytes(true), progressbar.OptionThrottle(100*time.Millisecond))
	to.Progress = func(n int) { _ = bar.Add(n) }
	report, err := dump.Load(ctx, store, d, to)
	_ = bar.Clear()
	if err == nil || report.Stored() > 0 && undo == nil {
		all := struct { // ignore errors: either output may be closed
			dump.Report
			Took time.Duration
		}{report, time.Since(started).Round(time.Millisecond)}
		_ = output.ExecuteTemplate(cmd.ErrOrStderr(), "notes on an import", all)
		_ = output.ExecuteTemplate(cmd.OutOrStdout(), "import", all)
		noteServer(cmd.ErrOrStderr(), store)
	}
	if err == nil {
		noteFindings(cmd, cfg, store, report)
	}
	return err
}

// target is what an import stores into.
type target interface {
	origin.Importer
	Close() error
}

// openTarget opens the store, and creates an embedded one; or it connects to the server that has it open. Such an
// import keeps others out, as an open file does.
func openTarget(ctx context.Context, cfg configs.Config) (target, error) {
	store, err := openStore(ctx, cfg)
	if !errors.Is(err, origin.ErrLocked) {
		return store, err
	}
	server, failed := control.Dial(ctx, embeddedPath(cfg))
	if failed == nil {
		failed = server.Import(ctx)
	}
	if failed != nil {
		return nil, fmt.Errorf("%w, and %w", err, failed)
	}
	return server, nil
}

// noteServer says what becomes of records that a server has stored, and who knows what they lack. to may be a store.
func noteServer(w io.Writer, to target) {
	server, ok := to.(*control.Client)
	switch { // ignore errors: standard error may be closed
	case ok && server.Info.Builds:
		fmt.Fprintln(w, "note: the running server stored the records, and builds its views by itself; "+
			"what the records lack is in its log, and in vitrine check --records")
	case ok:
		fmt.Fprintln(w, "note: the running server stored the records; it builds no views (--no-materialize); "+
			"vitrine check --records says what the records lack")
	}
}

// noteFindings notes what the imported collections and their records lack that lists need. The import has
// succeeded, so that what prevents the report is a note, too. A server examines what it stores itself, when it
// builds its views.
func noteFindings(cmd *cobra.Command, cfg configs.Config, to target, report dump.Report) {
	store, ok := to.(origin.Store)
	if !ok {
		return
	}
	imported := func(name string) bool {
		return slices.ContainsFunc(report.Collections, func(t dump.Tally) bool { return t.Collection == name })
	}
	var found records.Report
	i, err := newInstitute(cfg, store, slog.New(slog.DiscardHandler))
	if err == nil {
		found, err = i.survey(cmd.Context(), store, imported)
	}
	notes := found.Lines()
	if err != nil {
		notes = append(notes, fmt.Sprint("the records were not examined: ", err))
	}
	for _, note := range notes {
		fmt.Fprintln(cmd.ErrOrStderr(), "note:", note)
	}
}

// undoCreate returns a function that removes the store which is about to be created at a path: the file and its new
// folders, or only the content if the file is empty now. It returns nil if there is already a store, or path is
// empty.
//
// It looks before the store is opened, because opening creates the file. Only folders that did not exist then are
// removed, from the inside out. A file that exists and is empty may have been made by the operator, with an owner
// and rights that the server needs: it stays, without content.
func undoCreate(path string) func() error {
	info, err := os.Stat(path)
	switch {
	case path == "" || err == nil && info.Size() > 0:
		return nil
	case err == nil:
		return func() error { return os.Truncate(path, 0) }
	case !errors.Is(err, fs.ErrNotExist):
		return nil
	}
	made := []string{path}
	for folder := filepath.Dir(path); ; folder = filepath.Dir(folder) {
		if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		made = append(made, folder)
	}
	return func() error {
		for _, name := range made {
			if err := os.Remove(name); err != nil { // a folder that is no longer empty stays
				return err
			}
		}
		return nil
	}
}
