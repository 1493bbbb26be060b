package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"vitrine/cache/origin"
	"vitrine/cache/origin/bolt"
	"vitrine/configs"
)

// checkCommand examines an embedded store for damage.
func checkCommand() *cobra.Command {
	return withConfig("check", func(cmd *cobra.Command, _ []string, cfg configs.Config) error {
		store := cfg.Store.Reveal()
		path, ok := strings.CutPrefix(store, "bolt://")
		if !ok {
			return errors.New("only an embedded store (bolt://PATH) can be examined; MongoDB has its own means")
		}
		parts, err := bolt.Check(cmd.Context(), path)
		if errors.Is(err, origin.ErrDamaged) {
			fmt.Fprintf(cmd.OutOrStdout(), "The file cannot be used. %s\n", startOver(store))
		}
		if err != nil {
			return err
		}
		return printCheck(cmd.OutOrStdout(), store, parts)
	}, "store")
}

// startOver returns the advice on how to replace a store.
func startOver(store string) string {
	return "Move it away, keep it, and put a backup in its place or import the dumps anew:\n" +
		"  vitrine import --store " + store + " DUMP… && vitrine materialize --store " + store
}

// printCheck writes a line for each part, below them the damaged values and what to do
// about them. It returns an error that wraps origin.ErrDamaged if a part is damaged.
func printCheck(w io.Writer, store string, parts []bolt.Part) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "PART\tRECORDS\tDAMAGED")
	damaged, advice := 0, []string{}
	for _, p := range parts {
		fmt.Fprintf(tw, "%s\t%d\t%d\n", p.Name, p.Records, p.Damaged)
		switch {
		case p.Sound():
			continue
		case p.Name == bolt.Head:
			advice = append(advice, "One of the file's two meta pages is damaged: what was written last may be missing. Import again what was imported\n"+
				"last; the next commit writes the page anew.")
		case p.Source() && p.Err != nil:
			advice = append(advice, "Collections cannot be read, and nothing can be written. "+startOver(store))
		case p.Source():
			advice = append(advice, "Records are damaged: they are left out, and rows rendered before stay. Import them again:\n"+
				"  vitrine import --store "+store+" DUMP…")
		default:
			advice = append(advice, "Rows are damaged: they are left out until the next run renders them again, at once with\n"+
				"  vitrine materialize --store "+store)
		}
		damaged++
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	for _, p := range parts {
		if p.Err != nil {
			fmt.Fprintf(w, "%s cannot be read: %v\n", p.Name, p.Err)
		}
		for _, id := range p.IDs {
			fmt.Fprintf(w, "damaged: %s %s\n", p.Name, id)
		}
		if more := p.Damaged - len(p.IDs); more > 0 {
			fmt.Fprintf(w, "damaged: %s: %d more\n", p.Name, more)
		}
	}
	slices.Sort(advice) // parts with the same damage have the same advice: it is given once
	for _, text := range slices.Compact(advice) {
		fmt.Fprintln(w, text)
	}
	if damaged > 0 {
		return fmt.Errorf("%w: %d of %d parts", origin.ErrDamaged, damaged, len(parts))
	}
	fmt.Fprintln(w, "Nothing is damaged.")
	return nil
}
