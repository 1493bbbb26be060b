package main

import (
	"net/url"
	"strings"
	"testing"
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
