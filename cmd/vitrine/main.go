// Command vitrine serves a research institute's read API from materialized views.
//
// This package connects the parts: it reads the configuration, passes options to every package, and runs the command
// of the command line. There is one file per command; rules and decisions are in the packages.
//
// A start goes through these files:
//
//	command.go   names and texts of commands, and how they print
//	config.go    sources ─▶ configuration; the checks that serve runs before a start
//	institute.go configuration, files, settings in an OSIRIS database ─▶ settings in force
//	wiring.go    settings ─▶ store and jobs;  front.go: settings ─▶ options of the server
//	program.go   the parts of a running server;  serve.go makes, connects and runs them
//
// Commands that only read a store use wiring.go without a server. If a server has the embedded store open, they ask
// that server over its admin listener (health.go), because only one process can open such a store.
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

	"vitrine/cmd/vitrine/internal/logging"
)

// main only passes what belongs to the process to run, so that tests can run the whole program with arguments and
// outputs of their own. os.Exit runs no deferred calls, so none may stand here.
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
	// After the first signal the process handles signals in the default way again, so a second one kills it.
	context.AfterFunc(ctx, stop)
	root := rootCommand()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	// cobra returns the command that ran, also with an error. Its outputs may be the asynchronous ones that
	// logging.Detach has set; the error below must go through them, and logging.Flush must wait for them.
	cmd, err := root.ExecuteContextC(ctx)
	defer logging.Flush(cmd.OutOrStdout(), cmd.ErrOrStderr())
	if err != nil {
		fmt.Fprintln(cmd.ErrOrStderr(), "vitrine:", err)
		if cmd.Name() == "compare" && !errors.Is(err, errDiffer) {
			return 2 // for scripts: not all could be compared
		}
		return 1
	}
	return 0
}

// rootCommand returns the program's command with all others below it, in the order in which --help lists them. Each
// call makes new commands, because the flags of a command keep the values of a parse.
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
		backupCommand(),
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
		manCommand(),
		versionCommand(),
	)
	addCompletions(root)
	return root
}
