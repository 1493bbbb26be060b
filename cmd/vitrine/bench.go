package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"vitrine/cmd/vitrine/internal/bench"
	"vitrine/cmd/vitrine/internal/bench/report"
	"vitrine/configs"
)

// benchFlags are the flags of bench beside those of the configuration.
type benchFlags struct {
	bench.Options
	demo, quick, logged, json bool
}

// benchCommand measures; its children are the processes under measurement, and draw.
func benchCommand() *cobra.Command {
	var f benchFlags
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
	flags.StringVar(&f.Against, "against", "", "`URI` of a MongoDB-compatible server to copy the activities of the first size to and ask the same")
	flags.BoolVar(&f.logged, "logged", false, "let the front end log every request, as it does by default (the lines are thrown away)")
	flags.BoolVar(&f.quick, "quick", false, "one short round of everything: does it run?")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	cmd.AddCommand(benchServeCommand(), benchBareCommand(), benchDrawCommand())
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

// benchDrawCommand brings a document up to date with a report that was printed as JSON.
func benchDrawCommand() *cobra.Command {
	cmd := newCommand("bench draw")
	cmd.Args = cobra.ExactArgs(2)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		text, err := os.ReadFile(args[0])
		if err != nil {
			return err
		}
		var r report.Report
		if err := json.Unmarshal(text, &r); err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
		return report.Update(args[1], r)
	}
	return cmd
}
