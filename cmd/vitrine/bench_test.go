package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
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
	brief := []string{"bench", "--demo", "--size", "900", "--rounds", "1", "--duration", "100ms", "--dir", "stores"}
	out := vitrine(t, dir, brief...)
	for _, name := range append(bench.Steps(), "build of all views", "own memory when ready") {
		if row := regexp.MustCompile(`(?m)^\| ` + name + `\b.*`).FindString(out); row == "" || strings.Contains(row, "| –") {
			t.Errorf("%s: row %q", name, row)
		}
	}
	document := filepath.Join(dir, "figures.md")
	write(t, document, "<!-- bench -->", "<!-- /bench -->")
	out = vitrine(t, dir, append(brief, "--cases", "list-304", "--write", document)...)
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
	env := undisturbed("bolt://bench.db")
	cfg, err := configs.Load(configs.Sources{Environ: env, Checks: checks})
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Store != "bolt://bench.db" || !cfg.Log.Requests || len(cfg.Materialize.Schedule) > 0 || cfg.Cache.Budget != 7e6 || cfg.With(configs.Stored{APIKey: "key"}).Auth.APIKey != "" {
		t.Errorf("%v, log %v, schedule %v, cache %v", cfg.Store, cfg.Log.Requests, cfg.Materialize.Schedule, cfg.Cache.Budget)
	}
}
