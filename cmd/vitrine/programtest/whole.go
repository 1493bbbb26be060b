package programtest

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"testing"
)

// StartWhole starts the demo with what is off by default: another server behind it, of which it keeps something, a
// cache in front of it, and a key of the name portal, with which it asks something.
func StartWhole(t *testing.T, dir string) *Server {
	t.Helper()
	const key = "a named key"
	Setenv(dir, "VITRINE_UPSTREAM_URL", "http://127.0.0.1:1")
	Setenv(dir, "VITRINE_UPSTREAM_PATHS", "/old")
	Setenv(dir, "VITRINE_COMPARE_SHADOW_URL", "http://127.0.0.1:1")
	Setenv(dir, "VITRINE_PURGE_TARGETS", "front=varnish http://127.0.0.1:1")
	WriteLines(t, filepath.Join(dir, "vitrine.yml"), fmt.Sprintf(
		"auth: {keys: {portal: {sha256: [%x]}}}\nupstream: {keep: [{paths: [/old/kept]}]}",
		sha256.Sum256([]byte(key))))
	s := Start(t, dir, "--demo", "--config", "vitrine.yml").Ready()
	s.Get("/old/kept")
	s.Get("/api/html?limit=1", "X-API-Key", key)
	return s
}
