package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"vitrine/cache/origin"
	"vitrine/cache/origin/bolt"
	"vitrine/configs"
)

// checkCommand examines an embedded store. It opens the file itself and reads all of it, or, if a server has the
// file open, asks that server, which examines the records and rows that it can read while it works. MongoDB has
// commands of its own for that, so for other stores the command is an error.
func checkCommand() *cobra.Command {
	return withConfig("check", func(cmd *cobra.Command, _ []string, cfg configs.Config) error {
		store := cfg.Store.Reveal()
		path, ok := strings.CutPrefix(store, "bolt://")
		if !ok {
			return errors.New("only an embedded store (bolt://PATH) can be examined; MongoDB has its own means")
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
		return printCheck(cmd.OutOrStdout(), store, answer.Data)
	}, "store", "admin.listen")
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
	damaged := len(advice)
	slices.Sort(advice) // print the same advice for several parts only once
	for _, text := range slices.Compact(advice) {
		fmt.Fprint(w, text)
	}
	if damaged > 0 {
		return fmt.Errorf("%w: %d of %d parts", origin.ErrDamaged, damaged, len(parts))
	}
	fmt.Fprintln(w, "Nothing is damaged.")
	return nil
}
