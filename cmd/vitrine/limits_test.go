package main

import (
	"net/url"
	"strings"
	"testing"

	"vitrine/configs"
)

// TestZeroIsNoLimit: what the configuration turns off has no other limit in its place.
func TestZeroIsNoLimit(t *testing.T) {
	wholeOnly(t)
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{
		"LIMITS_FILTER_BYTES", "LIMITS_FILTER_DEPTH", "LIMITS_FILTER_NODES", "LIMITS_REGEX_BYTES", "LIMITS_REGEX_TIMEOUT",
		"LIMITS_REQUEST_TIMEOUT", "LIMITS_READ_TIMEOUT", "LIMITS_WRITE_TIMEOUT", "LIMITS_SEND_TIMEOUT", "LIMITS_IDLE_TIMEOUT",
		"LIMITS_CONCURRENCY", "LIMITS_CLIENT_CONNECTIONS", "LIMITS_KEY_FAILURES", "CACHE_MAX_ENTRY", "HTTP_COMPRESS_MIN_BYTES",
	} {
		set(dir, "VITRINE_"+name, "0")
	}
	s := startServer(t, dir, "--demo").ready()
	_, all := s.get("/api/activities")
	for name, filter := range map[string]string{
		"long":       `{"title":{"$nin":["` + strings.Repeat("x", 40_000) + `"]}}`,
		"deep":       strings.Repeat(`{"$and":[`, 200) + `{"year":{"$ne":0}}` + strings.Repeat(`]}`, 200),
		"many":       `{"$and":[{"year":1}` + strings.Repeat(`,{"n":1}`, 3000) + `]}`,
		"expression": `{"title":{"$not":{"$regex":"` + strings.Repeat("x", 5000) + `"}}}`,
	} {
		status, body := s.get("/api/activities?json=" + url.QueryEscape(filter))
		if status != 200 || name != "many" && body != all {
			t.Errorf("%s: %d %.200s", name, status, body)
		}
	}
	if code := s.stop(); code != 0 {
		t.Errorf("SIGTERM: exit code %d", code)
	}
}

// TestCacheBudgets: kept answers take no more than cache.budget, whichever share of it is for
// large ones, and what is kept at most has room there.
func TestCacheBudgets(t *testing.T) {
	const kib, mib = 1 << 10, 1 << 20
	for name, tt := range map[string]struct{ budget, maxEntry, inFlight, kept, large configs.Size }{
		"as configured":      {96 * mib, 16 * mib, 12 * mib, 4 * mib, 48 * mib},
		"nothing in flight":  {96 * mib, 16 * mib, 0, 16 * mib, 48 * mib},
		"any entry":          {96 * mib, 0, 0, 48 * mib, 48 * mib},
		"large entries":      {4 * mib, 4 * mib, 0, 2 * mib, 2 * mib},
		"small entries only": {8 * mib, 128 * kib, 0, 128 * kib, 0},
		"small budget":       {mib, 0, 0, 512 * kib, 0},
		"smaller budget":     {100 * kib, 0, 0, 100 * kib, 0},
		"none":               {0, 16 * mib, 0, 16 * mib, 0},
	} {
		var cfg configs.Config
		cfg.Cache.Budget, cfg.Cache.MaxEntry, cfg.Memory.InFlight = tt.budget, tt.maxEntry, tt.inFlight
		o := answerLimits(cfg)
		if kept := keptBytes(cfg); kept != int(tt.kept) || o.LargeBudget != int64(tt.large) || o.Budget+o.LargeBudget != int64(tt.budget) {
			t.Errorf("%s: up to %d bytes kept, budgets of %d and %d", name, kept, o.Budget, o.LargeBudget)
		}
	}
}
