package main

import (
	"encoding/json"
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
	demo, quick, logged bool
	reportFlags
}

// reportFlags select the forms of a report beside the table.
type reportFlags struct {
	json          bool
	svg, markdown string
}

// flags adds the flags to a command.
func (f *reportFlags) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.json, "json", false, "print JSON")
	flags.StringVar(&f.svg, "svg", "", "draw plots into `FOLDER`")
	flags.StringVar(&f.markdown, "markdown", "", "bring the tables between the marks of a Markdown `FILE` up to date")
}

// benchCommand measures; its children are the processes under measurement, and draw.
func benchCommand() *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "bench [flags] [DUMP…]",
		Short: "Measure the front end: answers, start, refresh, memory",
		Long: `Measure the front end: how many answers a second it gives and how long each takes,
against a bare Fiber handler that sends the same bytes and against the same question
to a MongoDB-compatible server (--against); how soon it starts, how it refreshes under
load, what memory it needs.

What is measured: dumps as import takes them, the demo institute (--demo), or else
what the configured store holds, which is only read. With --size its activities are
multiplied to that many, or to each of several numbers in turn. The records are copied
into embedded stores of their own. Front end, bare handler and load run in three
processes. Requests are not logged unless --logged is given.`,
		Example: `  vitrine bench --demo --quick
  vitrine bench --size 7519,100000 --svg plots dumps/institute
  vitrine bench --size 100000 --cases filter,levenshtein --rounds 7 dumps/institute`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, paths []string) error { return runBench(cmd, f, paths) },
	}
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
	f.reportFlags.flags(cmd)
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
	f.Progress = func(step string) { fmt.Fprintln(cmd.ErrOrStderr(), time.Now().Format(time.TimeOnly), step) }
	measured, err := bench.Run(cmd.Context(), f.Options)
	if shown := f.show(cmd, measured); err == nil {
		err = shown
	}
	return err
}

// show prints and draws what was measured, also beside an error.
func (f reportFlags) show(cmd *cobra.Command, r report.Report) error {
	if f.svg != "" {
		if err := report.Draw(f.svg, r); err != nil {
			return err
		}
	}
	if f.markdown != "" {
		doc, err := os.ReadFile(f.markdown)
		if err != nil {
			return err
		}
		filled, err := report.Fill(string(doc), r)
		if err != nil {
			return fmt.Errorf("%s: %w", f.markdown, err)
		}
		if err := os.WriteFile(f.markdown, []byte(filled), 0o644); err != nil {
			return err
		}
	}
	if f.json {
		return printJSON(cmd.OutOrStdout(), r)
	}
	return report.WriteTable(cmd.OutOrStdout(), r)
}

// benchDrawCommand shows a report again that was printed as JSON.
func benchDrawCommand() *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:     "draw REPORT.json",
		Short:   "Print and draw a report written with --json",
		Example: `  vitrine bench draw --svg docs/performance --markdown docs/performance.md docs/performance/report.json`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, files []string) error {
			text, err := os.ReadFile(files[0])
			if err != nil {
				return err
			}
			var r report.Report
			if err := json.Unmarshal(text, &r); err != nil {
				return fmt.Errorf("%s: %w", files[0], err)
			}
			return f.show(cmd, r)
		},
	}
	f.flags(cmd)
	return cmd
}
