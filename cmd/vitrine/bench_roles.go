package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cmd/vitrine/internal/bench"
	"vitrine/configs"
	"vitrine/materialize"
)

// benchServeCommand is the measured process: the program as serve runs it, until its parent hangs up.
func benchServeCommand() *cobra.Command {
	cmd := withConfig("bench serve", func(cmd *cobra.Command, _ []string, cfg configs.Config) error {
		log := slog.New(newHandler(io.Discard, cfg.Log)) // measure the formatting of log lines, not the writing
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
func undisturbed(store string) []string {
	own := []string{
		"VITRINE_STORE=" + store, // not an argument, because every user of the machine can read arguments
		"VITRINE_LISTEN=127.0.0.1:0", "VITRINE_ADMIN_LISTEN=", "VITRINE_AUTH_API_KEY=", "VITRINE_AUTH_PORTFOLIO_KEY=", "VITRINE_LIMITS_RATE=0",
		"VITRINE_ACCESS_ANONYMOUS=projects.view,proposals.view,portfolio-spectrum", "VITRINE_MATERIALIZE_ENABLED=true",
		"VITRINE_MATERIALIZE_SCHEDULE=", "VITRINE_MATERIALIZE_FULL=", "VITRINE_VIEWS_SNAPSHOT=",
	}
	others := slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.ContainsFunc(own, func(v string) bool { return strings.HasPrefix(v, strings.TrimSuffix(name, "_FILE")+"=") })
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
