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
	set(dir, "VITRINE_LIMITS_FILTER_BYTES", "0")
	set(dir, "VITRINE_LIMITS_REQUEST_TIMEOUT", "0")
	s := startServer(t, dir, "--demo").ready()
	_, all := s.get("/api/activities")
	long := `{"title":{"$nin":["` + strings.Repeat("x", 40_000) + `"]}}`
	if status, body := s.get("/api/activities?json=" + url.QueryEscape(long)); status != 200 || body != all {
		t.Errorf("%d %.200s", status, body)
	}
	if code := s.stop(); code != 0 {
		t.Errorf("SIGTERM: exit code %d", code)
	}
}
