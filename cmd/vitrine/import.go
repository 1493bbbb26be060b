package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"vitrine/cache/origin/dump"
	"vitrine/configs"
)

// importFlags are the flags of the command beside those of settings.
type importFlags struct {
	dump dump.Options
	load dump.LoadOptions
}

// importCommand loads dumps into the source collections.
func importCommand() *cobra.Command {
	var f importFlags
	cmd := withConfig("import", func(cmd *cobra.Command, paths []string, cfg configs.Config) error {
		f.dump.Stdin = cmd.InOrStdin()
		return runImport(cmd, cfg, f, paths)
	}, "store")
	cmd.Args = cobra.MinimumNArgs(1)
	flags := cmd.Flags()
	flags.BoolVar(&f.load.Drop, "drop", false, "delete what the dump does not hold from the imported collections, after everything is stored")
	flags.BoolVar(&f.load.SkipBad, "skip-bad", false, "pass over malformed documents, count and list them")
	flags.StringVar(&f.dump.Collection, "collection", "", "`NAME` to store a file's documents under; of a folder or archive, the only one to import")
	flags.StringVar(&f.dump.Database, "db", "", "`NAME` of the database to take from a dump of several")
	flags.IntVar(&f.load.BatchDocs, "batch", 0, "`NUMBER` of documents stored at once (default 1000)")
	return cmd
}

// runImport opens dump and store, loads, and prints a report. It also prints one beside
// an error, since the records stored before the error stay.
func runImport(cmd *cobra.Command, cfg configs.Config, f importFlags, paths []string) (err error) {
	ctx, started := cmd.Context(), time.Now()
	d, err := dump.Open(ctx, paths, f.dump)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	for _, note := range d.Notes {
		fmt.Fprintln(cmd.ErrOrStderr(), "note:", note)
	}
	undo := undoCreate(embeddedPath(cfg))
	store, err := openStore(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() {
		failed := err != nil
		if err = errors.Join(err, store.Close()); failed && undo != nil {
			err = errors.Join(err, undo()) // an incomplete store must not be served
		}
	}()

	bar := newBar(cmd.ErrOrStderr(), 2*d.Size(), "import", // Load reads everything twice
		progressbar.OptionShowBytes(true), progressbar.OptionThrottle(100*time.Millisecond))
	f.load.Progress = func(n int) { _ = bar.Add(n) }
	report, err := dump.Load(ctx, store, d, f.load)
	_ = bar.Clear()
	if err == nil || report.Stored() > 0 && undo == nil {
		printReport(cmd.OutOrStdout(), cmd.ErrOrStderr(), report, time.Since(started))
	}
	return err
}

// undoCreate returns a function that removes the store which is about to be created at a
// path: the file and its folders, unless they exist now, or the content of an empty file.
// It is nil where there is a store, and without a path.
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
			if err := os.Remove(name); err != nil { // a folder that others have put something into stays
				return err
			}
		}
		return nil
	}
}

// printReport writes a line for each collection and one for the whole to out,
// and the bad documents to errs.
func printReport(out, errs io.Writer, r dump.Report, took time.Duration) {
	for _, bad := range r.Bad {
		fmt.Fprintln(errs, "skipped:", bad)
	}
	if more := r.BadTotal - len(r.Bad); more > 0 {
		fmt.Fprintf(errs, "skipped: %d more\n", more)
	}
	for _, c := range r.Collections {
		fmt.Fprintf(out, "%s: documents %d, inserted %d, replaced %d, duplicate %d, skipped %d, removed %d\n",
			c.Collection, c.Documents, c.Inserted, c.Replaced, c.Duplicates, c.Skipped, c.Removed)
		if c.Duplicates > 0 {
			fmt.Fprintf(errs, "note: %s: %d documents share their _id with a later one, which was stored instead; the first is at %s\n",
				c.Collection, c.Duplicates, c.Superseded)
		}
		if c.Kept {
			fmt.Fprintf(errs, "note: %s: nothing removed, because some of its documents were skipped\n", c.Collection)
		}
	}
	fmt.Fprintf(out, "total: collections %d, stored %d, time %s\n", len(r.Collections), r.Stored(), took.Round(time.Millisecond))
}
