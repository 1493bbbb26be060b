package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"vitrine/cmd/vitrine/internal/bench"
	"vitrine/configs"
	"vitrine/materialize"
)

// benchServeCommand is the process that is measured: the program as serve runs it, and beside it
// the answers to the parent's questions. It serves until the parent hangs up.
func benchServeCommand() *cobra.Command {
	cmd := withConfig("bench serve", func(cmd *cobra.Command, _ []string, cfg configs.Config) error {
		log := slog.New(slog.DiscardHandler)
		if cfg.Log.Requests {
			log = slog.New(slog.NewTextHandler(io.Discard, nil)) // measure the formatting of log lines, not the writing
		}
		ctx, stop := context.WithCancel(cmd.Context())
		defer stop()
		return serve(ctx, cfg, false, log, func(p *program, public, _ string) {
			settled := make(chan struct{})
			p.onSettled = sync.OnceFunc(func() { close(settled) })
			s := &bench.Serving{Views: p.views, Store: p.store, Settled: settled, Trigger: func(view string) error {
				return p.runner.Trigger(materialize.Request{Views: []string{view}})
			}}
			go func() { // reading cannot be interrupted: after a signal it ends with the process
				defer stop()
				_ = bench.Serve(os.Stdin, os.Stdout, public, func(c bench.Change) (any, error) { return s.Answer(ctx, c) }) // the parent is gone
			}()
		})
	}, "store")
	cmd.Hidden = true
	return cmd
}

// undisturbed returns the environment of the process that is measured: nothing refuses requests, and nothing starts by
// itself during a measurement.
func undisturbed(store string, logged bool) []string {
	own := []string{
		"VITRINE_STORE=" + store, // not an argument, because every user of the machine can read arguments
		"VITRINE_LISTEN=127.0.0.1:0", "VITRINE_ADMIN_LISTEN=", "VITRINE_AUTH_API_KEY=", "VITRINE_AUTH_PORTFOLIO_KEY=", "VITRINE_LIMITS_RATE=0",
		"VITRINE_ACCESS_ANONYMOUS=projects.view,proposals.view,portfolio-spectrum", "VITRINE_MATERIALIZE_ENABLED=true",
		"VITRINE_MATERIALIZE_SCHEDULE=", "VITRINE_MATERIALIZE_FULL=", fmt.Sprintf("VITRINE_LOG_REQUESTS=%t", logged),
	}
	others := slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.ContainsFunc(own, func(v string) bool { return strings.HasPrefix(v, strings.TrimSuffix(name, "_FILE")+"=") })
	})
	return append(others, own...)
}

// benchBareCommand is the process with the bare handler.
func benchBareCommand() *cobra.Command {
	cmd := withConfig("bench bare", func(*cobra.Command, []string, configs.Config) error {
		return bench.ServeBare(os.Stdin, os.Stdout)
	})
	cmd.Hidden = true
	return cmd
}
