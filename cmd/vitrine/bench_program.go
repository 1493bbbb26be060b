package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/dump"
	"vitrine/cmd/vitrine/internal/bench"
	"vitrine/cmd/vitrine/internal/bench/child"
	"vitrine/configs"
	"vitrine/materialize"
)

// copyBatch is how many documents are copied from one store to another at once.
const copyBatch = 1000

// questionTime bounds a question to another server: its slowness is what is measured.
const questionTime = 10 * time.Minute

// benchProgram says how stores are opened and filled, and how this program starts
// itself again.
func benchProgram(cmd *cobra.Command, f benchFlags, dumps []string) (bench.Program, error) {
	cfg, err := loadConfig(cmd, f.demo)
	if err != nil {
		return bench.Program{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return bench.Program{}, err
	}
	if f.demo && len(dumps) > 0 {
		return bench.Program{}, errors.New("--demo and a dump: choose one")
	}
	role := func(args ...string) child.Command {
		return child.Command{Path: self, Args: append([]string{"bench"}, args...), Stderr: cmd.ErrOrStderr()}
	}
	open := func(ctx context.Context, uri string) (origin.Store, error) {
		other := cfg
		other.Store = configs.URI(uri)
		other.Mongo.Timeout = questionTime
		if uri == cfg.Store.Reveal() {
			return openExisting(ctx, other) // measured in place
		}
		return openStore(ctx, other)
	}
	return bench.Program{
		Open:  open,
		Seed:  benchSeed(cfg, f, dumps),
		Store: cfg.Store.Reveal(),
		Build: func(ctx context.Context, store origin.Store) error { return buildViews(ctx, cfg, store) },
		Serving: func(uri, profile string) child.Command {
			c := role(append(servingArgs(cmd, f), "--profile", profile)...)
			c.Env = append(os.Environ(), envStore+"="+uri) // not an argument, which every user of the machine can read
			return c
		},
		Bare: role("bare"),
	}, nil
}

// envStore gives the serving process its store.
const envStore = "VITRINE_STORE"

// servingArgs hands on what the serving process must know to have the same
// configuration.
func servingArgs(cmd *cobra.Command, f benchFlags) []string {
	args := []string{"serve", fmt.Sprintf("--logged=%t", f.logged)}
	if file := cmd.Flag(configs.FlagConfig).Value.String(); file != "" {
		args = append(args, "--"+configs.FlagConfig, file)
	}
	return args
}

// benchSeed returns what fills an empty store with the institute; nil where the
// configured store is to be measured in place.
func benchSeed(cfg configs.Config, f benchFlags, dumps []string) func(context.Context, origin.Store) error {
	switch {
	case f.demo:
		return loadDemo
	case len(dumps) > 0:
		return func(ctx context.Context, into origin.Store) error { return loadDump(ctx, into, dumps) }
	case len(f.Sizes) > 0:
		return func(ctx context.Context, into origin.Store) error { return copyStore(ctx, cfg, into) }
	}
	return nil
}

// loadDump fills a store from dumps.
func loadDump(ctx context.Context, into origin.Store, paths []string) (err error) {
	d, err := dump.Open(ctx, paths, dump.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	_, err = dump.Load(ctx, into, d, dump.LoadOptions{})
	return err
}

// copyStore fills a store from the configured one.
func copyStore(ctx context.Context, cfg configs.Config, into origin.Store) (err error) {
	from, err := openExisting(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	names, err := from.Collections(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := copyCollection(ctx, from, into, name); err != nil {
			return err
		}
	}
	return nil
}

func copyCollection(ctx context.Context, from, into origin.Store, name string) error {
	var batch []bson.Raw
	for record, err := range from.Scan(ctx, name) {
		if err != nil {
			return err
		}
		if batch = append(batch, record); len(batch) == copyBatch {
			if _, err := into.Upsert(ctx, name, batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
	_, err := into.Upsert(ctx, name, batch)
	return err
}

// buildViews runs all jobs once.
func buildViews(ctx context.Context, cfg configs.Config, store origin.Store) error {
	cfg.Store = "bolt://" // whose lease is free at once
	inst, err := newInstitute(cfg, store, discard())
	if err != nil {
		return err
	}
	runner, err := newRunner(ctx, cfg, store, inst, hooks{log: discard()})
	if err != nil {
		return err
	}
	outcomes, err := runner.RunOnce(ctx, materialize.Request{}, nil)
	for _, o := range outcomes {
		if o.Err != nil {
			err = errors.Join(err, fmt.Errorf("view %s: %s: %w", o.View, o.Result, o.Err))
		}
	}
	return err
}
