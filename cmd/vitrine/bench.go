package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"vitrine/cache/origin"
	"vitrine/cache/origin/dump"
	"vitrine/cmd/vitrine/internal/bench"
	"vitrine/configs"
)

// benchFlags are the flags of bench, beside those of the configuration.
type benchFlags struct {
	bench.Options
	demo, quick, logged, json bool
	write                     string
}

// benchCommand runs the measurements. Its child processes are what it measures.
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
	flags.BoolVar(&f.logged, "logged", false, "let the front end log every request, as it does by default (the lines are thrown away)")
	flags.BoolVar(&f.quick, "quick", false, "one short round of everything: does it run?")
	flags.StringVar(&f.write, "write", "", "put the table into the Markdown document `FILE`, too, between its marks")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	cmd.AddCommand(benchServeCommand(), benchBareCommand())
	return cmd
}

// runBench measures and prints the report. It removes the stores if no folder for them was given.
func runBench(cmd *cobra.Command, f benchFlags, dumps []string) (err error) {
	if f.demo && len(dumps) > 0 {
		return errors.New("--demo and a dump: choose one")
	}
	cfg, err := loadConfig(cmd, f.demo)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if f.quick {
		f.Rounds, f.Duration, f.Changes = 1, 100*time.Millisecond, 10
	}
	if f.Dir == "" {
		if f.Dir, err = os.MkdirTemp("", "vitrine-bench-"); err != nil {
			return err
		}
		defer os.RemoveAll(f.Dir)
	}
	f.Progress = func(step string) { fmt.Fprintln(cmd.ErrOrStderr(), time.Now().Format(time.TimeOnly), step) }
	f.Seed = func(ctx context.Context, into origin.Store) error { return seed(ctx, into, cfg, f.demo, dumps) }
	f.Command = func(ctx context.Context, store string, args ...string) *exec.Cmd {
		c := exec.CommandContext(ctx, self, append(args, "--"+configs.FlagConfig, cmd.Flag(configs.FlagConfig).Value.String())...)
		c.Env = undisturbed(store, f.logged)
		return c
	}
	measured, err := bench.Run(cmd.Context(), f.Options)
	if info, ok := debug.ReadBuildInfo(); ok {
		measured.Commit = buildCommit(info)
	}
	if f.json { // print the report even if there is an error
		return errors.Join(err, printJSON(cmd.OutOrStdout(), measured))
	}
	table, failed := measured.Table()
	fmt.Fprint(cmd.OutOrStdout(), table)
	if err = errors.Join(err, failed); err != nil || f.write == "" {
		return err
	}
	return bench.Write(f.write, table)
}

// seed fills a store with the demo institute, with dumps, or else with the configured store's records.
func seed(ctx context.Context, into origin.Store, cfg configs.Config, demo bool, dumps []string) error {
	if demo {
		return loadDemo(ctx, into)
	}
	if len(dumps) == 0 {
		return copyStore(ctx, cfg, into)
	}
	d, err := dump.Open(ctx, dumps, dump.Options{})
	if err != nil {
		return err
	}
	_, err = dump.Load(ctx, into, d, dump.LoadOptions{})
	return errors.Join(err, d.Close())
}

// copyStore copies the configured store into another.
func copyStore(ctx context.Context, cfg configs.Config, into origin.Store) error {
	from, err := openExisting(ctx, cfg)
	if err != nil {
		return err
	}
	names, err := from.Collections(ctx)
	for _, name := range names {
		err = errors.Join(err, bench.StoreAll(ctx, into, name, from.Scan(ctx, name)))
	}
	return errors.Join(err, from.Close())
}
