package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"time"

	"github.com/spf13/cobra"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/dump"
	"vitrine/cmd/vitrine/internal/bench"
	"vitrine/cmd/vitrine/internal/bench/report"
	"vitrine/configs"
	"vitrine/materialize"
)

// benchFlags are the flags of bench beside those of the configuration.
type benchFlags struct {
	bench.Options
	demo, quick, logged, json bool
}

// benchCommand measures; its children are the processes under measurement.
func benchCommand() *cobra.Command {
	f := benchFlags{Options: bench.Options{Changes: 100}}
	cmd := newCommand("bench")
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, paths []string) error { return runBench(cmd, f, paths) }
	configs.AddFlags(cmd.Flags(), "store")
	flags := cmd.Flags()
	flags.BoolVar(&f.demo, "demo", false, "measure with the demo institute")
	flags.IntSliceVar(&f.Sizes, "size", nil, "`NUMBERS` of activities to measure with, each in turn")
	flags.StringVar(&f.Dir, "dir", "", "keep the stores that are filled in `FOLDER`, and use those that are there")
	flags.StringSliceVar(&f.Cases, "cases", nil, "only these `CASES`, or those whose names begin so: "+fmt.Sprint(bench.Steps()))
	flags.IntVar(&f.Rounds, "rounds", 5, "`NUMBER` of rounds; medians are shown")
	flags.DurationVar(&f.Duration, "duration", time.Second, "how long each side is driven per round")
	flags.IntVar(&f.Conns, "conns", 16, "`NUMBER` of connections at a time for cached answers")
	flags.BoolVar(&f.logged, "logged", false, "let the front end log every request, as it does by default (the lines are thrown away)")
	flags.BoolVar(&f.quick, "quick", false, "one short round of everything: does it run?")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	cmd.AddCommand(benchServeCommand(), benchBareCommand())
	return cmd
}

// runBench measures and shows the report. Stores for which no folder was given are removed.
func runBench(cmd *cobra.Command, f benchFlags, dumps []string) (err error) {
	if f.quick {
		f.Rounds, f.Duration, f.Changes = 1, 100*time.Millisecond, 10
	}
	if f.Dir == "" {
		if f.Dir, err = os.MkdirTemp("", "vitrine-bench-"); err != nil {
			return err
		}
		defer os.RemoveAll(f.Dir)
	}
	f.Program, err = benchProgram(cmd, f, dumps)
	if err != nil {
		return err
	}
	// Steps go to standard error, so that a report can be redirected to a file.
	f.Progress = func(step string) { fmt.Fprintln(cmd.ErrOrStderr(), time.Now().Format(time.TimeOnly), step) }
	measured, err := bench.Run(cmd.Context(), f.Options)
	if f.json { // also beside an error
		return errors.Join(err, printJSON(cmd.OutOrStdout(), measured))
	}
	return errors.Join(err, report.WriteTable(cmd.OutOrStdout(), measured))
}

// copyBatch is how many documents are copied from one store to another at once.
const copyBatch = 1000

// benchProgram says how stores are opened and filled, and how this program starts
// itself again.
func benchProgram(cmd *cobra.Command, f benchFlags, dumps []string) (p bench.Program, err error) {
	cfg, err := loadConfig(cmd, f.demo)
	if err != nil {
		return p, err
	}
	self, err := os.Executable()
	if err != nil {
		return p, err
	}
	if f.demo && len(dumps) > 0 {
		return p, errors.New("--demo and a dump: choose one")
	}
	role := func(ctx context.Context, args ...string) *exec.Cmd {
		c := exec.CommandContext(ctx, self, append([]string{"bench"}, args...)...)
		c.Stderr = cmd.ErrOrStderr()
		return c
	}
	return bench.Program{
		Open: func(ctx context.Context, uri string) (origin.Store, error) {
			other := cfg
			other.Store = configs.URI(uri)
			return openStore(ctx, other)
		},
		Seed: func(ctx context.Context, into origin.Store) error {
			switch {
			case f.demo:
				return loadDemo(ctx, into)
			case len(dumps) > 0:
				return loadDump(ctx, into, dumps)
			}
			return copyStore(ctx, cfg, into)
		},
		Build: func(ctx context.Context, store origin.Store) error {
			embedded := cfg
			embedded.Store = "bolt://" // whose lease is free at once
			_, err := buildViews(ctx, embedded, store, slog.New(slog.DiscardHandler), materialize.Request{}, nil)
			return err
		},
		Serving: func(ctx context.Context, uri string) *exec.Cmd {
			c := role(ctx, "serve")
			if file := cmd.Flag(configs.FlagConfig).Value.String(); file != "" {
				c.Args = append(c.Args, "--"+configs.FlagConfig, file)
			}
			c.Env = undisturbed(uri, f.logged)
			return c
		},
		Bare: func(ctx context.Context) *exec.Cmd { return role(ctx, "bare") },
	}, nil
}

// loadDump fills a store from dumps.
func loadDump(ctx context.Context, into origin.Store, paths []string) (err error) {
	d, err := dump.Open(ctx, paths, dump.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	_, err = dump.Load(ctx, into, d, dump.LoadOptions{})
	return err
}

// copyStore fills a store from the configured one.
func copyStore(ctx context.Context, cfg configs.Config, into origin.Store) (err error) {
	from, err := openExisting(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	names, err := from.Collections(ctx)
	for _, name := range names {
		err = errors.Join(err, bench.Batches(from.Scan(ctx, name), copyBatch, func(docs []bson.Raw) error {
			_, err := into.Upsert(ctx, name, docs)
			return err
		}))
	}
	return err
}
