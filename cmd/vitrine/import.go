package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"vitrine/cache/origin"
	"vitrine/cache/origin/dump"
)

// importFlags are what the command line says beside the paths.
type importFlags struct {
	store string
	dump  dump.Options
	load  dump.LoadOptions
}

// importCommand loads dumps into a store. open opens the store of a URI; an empty
// one is for it to fill in from configuration, or to refuse.
func importCommand(open func(ctx context.Context, uri string) (origin.Store, error)) *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use:   "import --store URI [flags] PATH…",
		Short: "Load dumps into the source collections",
		Long: `Load dumps into the source collections: files of Extended JSON, one document a
line (activities.jsonl.gz becomes the collection activities), BSON files and
folders as mongodump writes them, mongodump's --archive files, folders of any of
these, and - for standard input. Gzip is recognised by itself.

Everything is read and checked before anything is written: a malformed document
stops the import with file, line and reason, and leaves the store as it was.
Documents are stored by _id; running an import again repairs an interrupted one.`,
		Example: `  vitrine import --store bolt://data/vitrine.db dumps/institute
  mongodump --archive --db osiris | vitrine import --store bolt://data/vitrine.db -`,
		Args:         cobra.MinimumNArgs(1),
		SilenceUsage: true,
		RunE: func(cmd *cobra.Command, paths []string) error {
			f.dump.Stdin = cmd.InOrStdin()
			return runImport(cmd, open, f, paths)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.store, "store", "", "`URI` of the store: bolt://PATH or mongodb://…/DATABASE")
	flags.BoolVar(&f.load.Drop, "drop", false, "delete what the dump does not hold from the imported collections, after everything is stored")
	flags.BoolVar(&f.load.SkipBad, "skip-bad", false, "pass over malformed documents, count and list them")
	flags.StringVar(&f.dump.Collection, "collection", "", "`NAME` to store a file's documents under; of a folder or archive, the only one to import")
	flags.StringVar(&f.dump.Database, "db", "", "`NAME` of the database to take from a dump of several")
	flags.IntVar(&f.load.BatchDocs, "batch", 0, "`NUMBER` of documents stored at once (default 1000)")
	return cmd
}

// runImport opens dump and store, loads, and prints what was done: also beside an
// error, since what was stored before it stays.
func runImport(cmd *cobra.Command, open func(context.Context, string) (origin.Store, error), f importFlags, paths []string) (err error) {
	ctx, started := cmd.Context(), time.Now()
	d, err := dump.Open(ctx, paths, f.dump)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	for _, note := range d.Notes {
		fmt.Fprintln(cmd.ErrOrStderr(), "note:", note)
	}
	store, err := open(ctx, f.store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()

	bar := newProgress(cmd.ErrOrStderr(), 2*d.Size()) // Load reads everything twice
	f.load.Progress = bar.add
	report, err := dump.Load(ctx, store, d, f.load)
	bar.finish()
	if err == nil || report.Stored() > 0 {
		printReport(cmd.OutOrStdout(), cmd.ErrOrStderr(), report, time.Since(started))
	}
	return err
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
		if c.Kept {
			fmt.Fprintf(errs, "note: %s: nothing removed, because some of its documents were skipped\n", c.Collection)
		}
	}
	fmt.Fprintf(out, "total: collections %d, stored %d, time %s\n", len(r.Collections), r.Stored(), took.Round(time.Millisecond))
}

// progress is a bar on a terminal, and nothing elsewhere.
type progress struct{ bar *progressbar.ProgressBar }

// newProgress returns a bar for so many bytes if w is a terminal.
func newProgress(w io.Writer, total int64) progress {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return progress{}
	}
	return progress{progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription("import"),
		progressbar.OptionShowBytes(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)}
}

// add moves the bar on by n bytes.
func (p progress) add(n int) {
	if p.bar != nil {
		_ = p.bar.Add(n) // an error says that the terminal is gone; the import goes on
	}
}

// finish takes the bar off the terminal.
func (p progress) finish() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
