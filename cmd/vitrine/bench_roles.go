package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"vitrine/cmd/vitrine/internal/bench/process"
	"vitrine/cmd/vitrine/internal/memory"
	"vitrine/configs"
	"vitrine/materialize"
)

// benchServeCommand is the process that is measured: the program as serve runs it,
// and beside it the service for the measurement.
func benchServeCommand() *cobra.Command {
	var logged bool
	cmd := withConfig("bench serve", func(cmd *cobra.Command, _ []string, cfg configs.Config) error {
		return benchServe(cmd.Context(), undisturbed(cfg), logged)
	}, "store")
	cmd.Hidden = true
	cmd.Flags().BoolVar(&logged, "logged", false, "")
	return cmd
}

// undisturbed removes from a configuration what would refuse requests, and what would
// start by itself during a measurement.
func undisturbed(cfg configs.Config) configs.Config {
	cfg.Listen, cfg.Admin.Listen = "127.0.0.1:0", ""
	cfg.Auth.APIKey, cfg.Auth.PortfolioKey, cfg.Limits.Rate = "", "", 0
	cfg.Pin("bench", "auth.api_key", "auth.portfolio_key") // also against a database's
	cfg.Access.Anonymous = []string{"projects.view", "proposals.view", "portfolio-spectrum"}
	cfg.Materialize.Enabled, cfg.Materialize.Schedule, cfg.Materialize.Full = true, nil, ""
	return cfg
}

// benchServe serves until the parent hangs up or ctx ends.
func benchServe(ctx context.Context, cfg configs.Config, logged bool) (err error) {
	log := discard()
	if cfg.Log.Requests = logged; logged {
		log = slog.New(slog.NewTextHandler(io.Discard, nil)) // what formatting costs counts, the writing does not
	}
	public, _, err := listen(cfg)
	if err != nil {
		return err
	}
	defer closeListeners(public)
	memory.Tune(cfg.Memory.Garbage, int64(cfg.Memory.Limit))
	store, err := openExisting(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	p, err := assemble(ctx, cfg, store, log)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	// The service has the store, not the circuit before it: it must not fail with requests.
	service := process.NewServing(ctx, process.Options{
		Addr: public.Addr().String(), Views: p.views, Store: store,
		Trigger: func(view string) error { return p.runner.Trigger(materialize.Request{Views: []string{view}}) },
	})
	var parts errgroup.Group // the first that ends stops the other
	parts.Go(func() error { defer stop(); return p.run(ctx, public, nil) })
	parts.Go(func() error { defer stop(); return process.Serve(ctx, os.Stdin, os.Stdout, service) })
	return parts.Wait()
}

// benchBareCommand is the process with the bare handler.
func benchBareCommand() *cobra.Command {
	cmd := newCommand("bench bare")
	cmd.Hidden = true
	cmd.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		s, err := process.StartBare()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		return process.Serve(cmd.Context(), os.Stdin, os.Stdout, s)
	}
	return cmd
}

// discard returns a logger for what is not under measurement.
func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }
