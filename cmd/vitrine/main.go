// Command vitrine serves a research institute's read API from materialized views.
//
// This package connects the parts: it reads the configuration, passes options to every package, and runs the command
// of the command line. There is one file per command; rules and decisions are in the packages.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // time zones for images that have none

	"github.com/spf13/cobra"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// run is the whole program. Signals that end ctx give exit code 0; a second signal kills at once.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup; a closed terminal sends it
		signals = append(signals, syscall.SIGHUP) // but a server with a file takes it as a request to read the file
	}
	ctx, stop := signal.NotifyContext(ctx, signals...)
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
		if cmd.Name() == "compare" && !errors.Is(err, errDiffer) {
			return 2 // for scripts: not all could be compared
		}
		return 1
	}
	return 0
}

func rootCommand() *cobra.Command {
	root := newCommand("vitrine")
	root.Args = nil                                    // names of unknown commands
	root.SilenceErrors, root.SilenceUsage = true, true // run prints errors itself, once
	root.Version = versionLine()
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(suggestFlag) // subcommands inherit it
	root.AddCommand(
		serveCommand(),
		importCommand(),
		materializeCommand(),
		statusCommand(),
		checkCommand(),
		queryCommand(),
		explainCommand(),
		groupCommand("lists", listsDiffCommand()),
		compareCommand(),
		tokenCommand(),
		groupCommand("key", keyAddCommand()),
		configCommand(),
		benchCommand(),
		osirisCommand(),
		healthCommand(),
		versionCommand(),
	)
	return root
}
