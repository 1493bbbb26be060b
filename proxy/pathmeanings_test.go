package proxy

import (
	"slices"
	"strings"
	"testing"
)

// TestPathMeanings: a path from elsewhere means a route, and is none itself.
func TestPathMeanings(t *testing.T) {
	for _, m := range pathMeanings {
		if !slices.Contains(Paths(), m.route) {
			t.Errorf("%s is no route", m.route)
		}
		for name := range strings.FieldsSeq(m.names) {
			path := m.above + "/" + name
			if got := nearestPath(path); got != m.route || leads(path, Paths()) {
				t.Errorf("%s means %q, want %s", path, got, m.route)
			}
		}
	}
}
