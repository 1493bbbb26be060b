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
	"vitrine/cmd/vitrine/internal/bench/process"
	"vitrine/configs"
	"vitrine/materialize"
)

// copyBatch is how many documents are copied from one store to another at once.
const copyBatch = 1000

// questionTime bounds a question to another server: its slowness is what is measured.
const questionTime = 10 * time.Minute

// benchProgram says how stores are opened and filled, and how this program starts
// itself again.
func benchProgram(cmd *cobra.Command, f benchFlags, dumps []string) (p bench.Program, err error) {
	cfg, err := loadConfig(cmd, f.demo)
	if err != nil {
		return p, err
	}
	self, err := os.Executable()
	if err != nil {
		return p, err
	}
	if f.demo && len(dumps) > 0 {
		return p, errors.New("--demo and a dump: choose one")
	}
	role := func(args ...string) process.Command {
		return process.Command{Path: self, Args: append([]string{"bench"}, args...), Stderr: cmd.ErrOrStderr()}
	}
	return bench.Program{
		Open: func(ctx context.Context, uri string) (origin.Store, error) {
			other := cfg
			other.Store = configs.URI(uri)
			other.Mongo.Timeout = questionTime
			return openStore(ctx, other)
		},
		Seed: func(ctx context.Context, into origin.Store) error {
			switch {
			case f.demo:
				return loadDemo(ctx, into)
			case len(dumps) > 0:
				return loadDump(ctx, into, dumps)
			}
			return copyStore(ctx, cfg, into)
		},
		Build: func(ctx context.Context, store origin.Store) error {
			embedded := cfg
			embedded.Store = "bolt://" // whose lease is free at once
			_, err := buildViews(ctx, embedded, store, discard(), materialize.Request{}, nil)
			return err
		},
		Serving: func(uri string) process.Command {
			c := role("serve", fmt.Sprintf("--logged=%t", f.logged))
			if file := cmd.Flag(configs.FlagConfig).Value.String(); file != "" {
				c.Args = append(c.Args, "--"+configs.FlagConfig, file)
			}
			c.Env = append(os.Environ(), "VITRINE_STORE="+uri) // not an argument, which every user of the machine can read
			return c
		},
		Bare: role("bare"),
	}, nil
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
	for _, name := range names {
		err = errors.Join(err, bench.Copy(ctx, from, name, copyBatch, func(docs []bson.Raw) error {
			_, err := into.Upsert(ctx, name, docs)
			return err
		}))
	}
	return err
}
