package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cmd/vitrine/internal/bench"
	"vitrine/cmd/vitrine/internal/logging"
	"vitrine/configs"
	"vitrine/materialize"
)

// benchCommand runs the measurements. Its child processes are what it measures.
func benchCommand() *cobra.Command {
	o := bench.Options{Cases: regexp.MustCompile("")}
	var demo, asJSON bool
	var document string
	cmd := newCommand("bench")
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, dumps []string) error {
		if demo == (len(dumps) > 0) {
			return errors.New("choose what to measure with: --demo or a dump")
		}
		o.Dumps = dumps
		return runBench(cmd, o, document, asJSON)
	}
	flags := cmd.Flags()
	flags.BoolVar(&demo, "demo", false, "measure with the demo institute")
	flags.IntSliceVar(&o.Sizes, "size", []int{0},
		"`NUMBERS` of activities to measure with, each in turn; 0: the institute's own")
	flags.StringVar(&o.Dir, "dir", "", "keep the stores that are filled in `FOLDER`, and use those that are there")
	flags.TextVar(o.Cases, "cases", o.Cases,
		"only what the `EXPRESSION` matches (beside: of the costly cases that it matches): "+
			strings.Join(bench.Steps(), ", "))
	flags.IntVar(&o.Rounds, "rounds", 5, "`NUMBER` of rounds; medians are shown")
	flags.DurationVar(&o.Duration, "duration", time.Second, "how long each side is driven per round")
	flags.BoolVar(&asJSON, "json", false, "print JSON")
	flags.StringVar(&document, "write", "", "put the table into the Markdown document `FILE`, too, between its marks")
	cmd.AddCommand(benchServeCommand(), benchBareCommand())
	return cmd
}

// runBench measures and prints the report. It removes the stores unless a folder for them was given.
//
// With --dir the stores stay for the next measurement, since a store of millions of rows takes long to fill.
func runBench(cmd *cobra.Command, o bench.Options, document string, asJSON bool) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	temporary, err := os.MkdirTemp("", "vitrine-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	if o.Dir = cmp.Or(o.Dir, temporary); len(o.Dumps) == 0 {
		o.Dumps = []string{filepath.Join(temporary, "demo")}
		if err := os.CopyFS(o.Dumps[0], configs.Demo()); err != nil {
			return err
		}
	}
	o.Progress = func(step string) { fmt.Fprintln(cmd.ErrOrStderr(), time.Now().Format(time.TimeOnly), step) }
	o.Command = func(ctx context.Context, store string, args ...string) *exec.Cmd {
		c := exec.CommandContext(ctx, self, args...)
		c.Env = undisturbed(store)
		return c
	}
	measured, err := bench.Run(cmd.Context(), o)
	measured.Commit = measuredCommit()
	table, failed := measured.Table()
	if asJSON { // print the report even if a case has failed
		failed = errors.Join(failed, printJSON(cmd.OutOrStdout(), measured))
	} else {
		fmt.Fprint(cmd.OutOrStdout(), table)
	}
	if failed == nil && document != "" && len(measured.Runs) > 0 && cmd.Context().Err() == nil {
		failed = bench.Write(document, table)
	}
	return errors.Join(err, failed)
}

// measuredCommit returns the recorded commit, or else that of the source, if it lies on this machine.
func measuredCommit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	found := buildCommit(info)
	if _, source, _, ok := runtime.Caller(0); ok && found == "unknown" {
		described, err := exec.Command("git", "-C", filepath.Dir(source), "describe", "--always", "--exclude=*",
			"--abbrev=12", "--dirty=+changes").Output()
		if err == nil {
			return strings.TrimSpace(string(described))
		}
	}
	return found
}

// benchServeCommand is the measured process: the program as serve runs it, until its parent hangs up.
func benchServeCommand() *cobra.Command {
	cmd := withConfig("bench serve", func(cmd *cobra.Command, _ []string, cfg configs.Config) error {
		log := slog.New(logging.NewHandler(io.Discard, cfg.Log)) // measure the formatting of log lines, not the writing
		ctx, stop := context.WithCancel(cmd.Context())
		defer stop()
		return serve(ctx, cfg, false, log, func(p *program, public, _ string) {
			settled := make(chan struct{})
			p.onSettled = sync.OnceFunc(func() { close(settled) })
			s := &bench.Serving{
				Views: p.views, Settled: settled,
				Upsert: func(collection string, records []bson.Raw) error {
					_, err := p.store.Upsert(ctx, collection, records)
					return err
				},
				Trigger: func(view string, full bool) error {
					return p.runner.Trigger(materialize.Request{Views: []string{view}, Full: full})
				},
			}
			go func() { // reading cannot be interrupted: after a signal it ends with the process
				defer stop()
				_ = bench.Serve(os.Stdin, os.Stdout, public, s) // the parent is gone
			}()
		})
	})
	cmd.Hidden = true
	return cmd
}

// undisturbed returns the measured process's environment: nothing refuses requests or starts by itself.
//
// Variables of the operator's that are not in the list stay, so that a measurement can be made with other settings.
func undisturbed(store string) []string {
	own := []string{
		"VITRINE_STORE=" + store, // not an argument, because every user of the machine can read arguments
		"VITRINE_LISTEN=127.0.0.1:0", "VITRINE_ADMIN_LISTEN=", "VITRINE_AUTH_API_KEY=", "VITRINE_AUTH_PORTFOLIO_KEY=",
		"VITRINE_LIMITS_RATE=0",
		"VITRINE_ACCESS_ANONYMOUS=projects.view,proposals.view,portfolio-spectrum",
		"VITRINE_MATERIALIZE_ENABLED=true",
		"VITRINE_MATERIALIZE_SCHEDULE=", "VITRINE_MATERIALIZE_FULL=", "VITRINE_VIEWS_SNAPSHOT=",
	}
	others := slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.ContainsFunc(own, func(v string) bool {
			return strings.HasPrefix(v, strings.TrimSuffix(name, "_FILE")+"=")
		})
	})
	return append(others, own...)
}

// benchBareCommand is the process with the bare handler.
func benchBareCommand() *cobra.Command {
	cmd := newCommand("bench bare")
	cmd.RunE = func(*cobra.Command, []string) error { return bench.ServeBare(os.Stdin, os.Stdout) }
	cmd.Hidden = true
	return cmd
}
