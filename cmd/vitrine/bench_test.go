package main

import (
	"context"
	"testing"
	"time"

	"vitrine/configs"
)

// ready waits until every view is loaded.
func (p *program) ready(ctx context.Context) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !p.views.Ready() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

// TestUndisturbed: a measurement ignores the store and the keys that the environment sets.
func TestUndisturbed(t *testing.T) {
	t.Setenv("VITRINE_AUTH_API_KEY_FILE", "key")
	t.Setenv("VITRINE_STORE", "bolt://mine.db")
	t.Setenv("VITRINE_CACHE_BUDGET", "7MB")
	env := undisturbed("bolt://bench.db")
	cfg, err := configs.Load(configs.Sources{Environ: env, Checks: checks})
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Store != "bolt://bench.db" || !cfg.Log.Requests || len(cfg.Materialize.Schedule) > 0 ||
		cfg.Cache.Budget != 7e6 || cfg.With(configs.Stored{APIKey: "key"}).Auth.APIKey != "" {
		t.Errorf("%v, log %v, schedule %v, cache %v", cfg.Store, cfg.Log.Requests, cfg.Materialize.Schedule,
			cfg.Cache.Budget)
	}
}
