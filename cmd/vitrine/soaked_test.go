package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os/signal"
	"syscall"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/configs"
)

// runSoak is the value of runEnv that starts the program with changing sources.
const runSoak = "soak"

// soaked is the main of the soaked process: the program on an embedded store, which only one
// process can open, and beside it a writer that stores the rounds from standard input. The first
// round comes before the program starts.
func soaked(dir string, rounds io.Reader, done, logs io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := soak(ctx, dir, json.NewDecoder(rounds), done, slog.New(slog.NewJSONHandler(logs, nil))); err != nil {
		fmt.Fprintln(logs, err)
		return 1
	}
	return 0
}

func soak(ctx context.Context, dir string, rounds *json.Decoder, done io.Writer, log *slog.Logger) error {
	cfg := configs.Default()
	cfg.Store = configs.URI("bolt://" + dir + "/v.db")
	cfg.Listen, cfg.Admin.Listen = "127.0.0.1:0", "127.0.0.1:0"
	cfg.Access.Anonymous = []string{"projects.view", "proposals.view", "portfolio-spectrum"}
	cfg.Log.Requests = false
	cfg.Views.Poll, cfg.Shutdown.Delay = time.Second, 0
	cfg.Cache.Budget = 8 << 20 // soon full, so that its size stays flat from then on
	for view := range cfg.Materialize.Schedule {
		cfg.Materialize.Schedule[view] = "@every 2s"
	}
	store, err := openStore(ctx, cfg)
	if err != nil {
		return err
	}
	if err := writeRound(ctx, rounds, store); err != nil {
		return err
	}
	p, err := assemble(ctx, cfg, store, log)
	if err != nil {
		return err
	}
	public, admin, err := listen(cfg)
	if err != nil {
		return err
	}
	go func() { // ends with the process
		for {
			err := writeRound(ctx, rounds, store)
			if err == io.EOF {
				return
			}
			fmt.Fprintln(done, err)
		}
	}()
	log.Info("listening", "address", public.Addr().String(), "admin", admin.Addr().String())
	return cmp.Or(p.run(ctx, public, admin), store.Close())
}

// writeRound writes the next round of records to a store, and then removes the activities that the
// round does not keep.
func writeRound(ctx context.Context, rounds *json.Decoder, store origin.Store) error {
	var round struct {
		Records map[string][][]byte // BSON, by collection
		Stay    map[string]bool     // the ids of activities
	}
	if err := rounds.Decode(&round); err != nil {
		return err
	}
	for collection, docs := range round.Records {
		raws := make([]bson.Raw, len(docs))
		for i, doc := range docs {
			raws[i] = doc
		}
		if _, err := store.Upsert(ctx, collection, raws); err != nil {
			return err
		}
	}
	_, err := store.Retain(ctx, "activities", func(id bson.RawValue) bool { return round.Stay[id.StringValue()] })
	return err
}
