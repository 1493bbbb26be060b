// Command vitrine serves a research institute's read API from materialized views.
//
// This package wires: it reads the configuration, hands every package its
// options, and runs what the command line asks for. One file per command; rules
// and decisions live in the packages.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	_ "time/tzdata" // time zones on images that have none

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// run is the whole program: it returns the exit code, 0 also after the signals that
// end ctx. A second signal kills at once.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(ctx, endings()...)
	defer stop()
	context.AfterFunc(ctx, stop)
	root := rootCommand()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	defer flush(cmd.OutOrStdout(), cmd.ErrOrStderr())
	if err != nil {
		fmt.Fprintln(cmd.ErrOrStderr(), "vitrine:", err)
		return 1
	}
	return 0
}

// endings are the signals that end the program in order: SIGTERM, SIGINT, and SIGHUP,
// which comes when the terminal is closed, unless it is ignored as under nohup, or asks a
// server to read its configuration file again.
func endings() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

//go:embed help.yaml
var helpSource []byte

// helpTexts are the texts of the commands by their names, which those of their parents
// precede.
var helpTexts = sync.OnceValue(func() (all map[string]struct{ Use, Short, Long, Example string }) {
	if err := yaml.Unmarshal(helpSource, &all); err != nil {
		panic(fmt.Errorf("help.yaml: %w", err)) // every test of a command finds it
	}
	return all
})

// newCommand returns the command of that name, without arguments.
func newCommand(name string) *cobra.Command {
	h := helpTexts()[name]
	return &cobra.Command{Use: h.Use, Short: h.Short, Long: h.Long, Example: h.Example, Args: cobra.NoArgs}
}

func rootCommand() *cobra.Command {
	root := newCommand("vitrine")
	root.Args = nil                                    // names of commands
	root.SilenceErrors, root.SilenceUsage = true, true // run prints errors, once
	root.AddCommand(
		serveCommand(),
		importCommand(),
		materializeCommand(),
		statusCommand(),
		checkCommand(),
		queryCommand(),
		tokenCommand(),
		configCommand(),
		benchCommand(),
		osirisCommand(),
		healthCommand(),
		versionCommand(),
	)
	return root
}
