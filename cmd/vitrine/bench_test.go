package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vitrine/cmd/vitrine/internal/bench"
	"vitrine/configs"
)

// TestBench measures everything once, briefly, with all three processes: that each
// step comes to something, not to what.
func TestBench(t *testing.T) {
	wholeOnly(t)
	t.Parallel()
	dir := t.TempDir()
	out := vitrine(t, dir, "bench", "--demo", "--size", "900", "--quick", "--json", "--dir", "stores")
	var measured bench.Report
	if err := json.Unmarshal([]byte(out), &measured); err != nil {
		t.Fatalf("%v in %.300s", err, out)
	}
	if len(measured.Runs) != 1 {
		t.Fatalf("%d runs", len(measured.Runs))
	}
	run := measured.Runs[0]
	if run.Rows != 900 || run.Build <= 0 || run.Start <= 0 || run.Ready.Own <= 0 {
		t.Errorf("got %d rows, built in %s, start in %s, memory %+v", run.Rows, run.Build, run.Start, run.Ready)
	}
	if r := run.Refresh; r.Visible <= 0 || r.Publish <= 0 || r.P99 <= 0 {
		t.Errorf("refresh: %+v", r)
	}
	for _, name := range bench.Steps() {
		if name == "start" || name == "memory" || name == "refresh" {
			continue
		}
		if r := run.Results[name]; r == nil || r.Rate <= 0 || r.P50 <= 0 || r.Ratio <= 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	document := filepath.Join(dir, "figures.md")
	write(t, document, "<!-- bench -->", "<!-- /bench -->")
	out = vitrine(t, dir, "bench", "--demo", "--size", "900", "--quick", "--dir", "stores", "--cases", "list-304", "--write", document)
	if text, err := os.ReadFile(document); err != nil || !strings.Contains(out, "| list-304 | ") || !strings.Contains(string(text), out) {
		t.Errorf("of a store that is there: printed %s, written %s, %v", out, text, err)
	}
}

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

// TestUndisturbed: what the environment says of the settings of a measurement does not count.
func TestUndisturbed(t *testing.T) {
	t.Setenv("VITRINE_AUTH_API_KEY_FILE", "key")
	t.Setenv("VITRINE_STORE", "bolt://mine.db")
	t.Setenv("VITRINE_CACHE_BUDGET", "7MB")
	env := undisturbed("bolt://bench.db", true)
	cfg, err := configs.Load(configs.Sources{Environ: env, Checks: checks})
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Store != "bolt://bench.db" || !cfg.Log.Requests || len(cfg.Materialize.Schedule) > 0 || cfg.Cache.Budget != 7e6 || !cfg.Given("auth.api_key") {
		t.Errorf("%v, log %v, schedule %v, cache %v", cfg.Store, cfg.Log.Requests, cfg.Materialize.Schedule, cfg.Cache.Budget)
	}
}
