package compare_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"vitrine/proxy/compare"
	"vitrine/proxy/proxytest/mistakes"
)

// TestPlanted: each kind of mistake, in one of 2,000 answers, is found, and not called on purpose. TestPairs shows
// that nothing else differs in them.
func TestPlanted(t *testing.T) {
	w := newWorld(t)
	targets := w.targets()
	if len(mistakes.Kinds) < 40 {
		t.Errorf("%d kinds of mistakes", len(mistakes.Kinds))
	}
	var names []string
	for name := range mistakes.Kinds {
		names = append(names, name)
	}
	slices.Sort(names)
	const each = 4 // answers of a kind
	r := rand.New(rand.NewPCG(1, 2))
	for _, name := range names {
		at := r.Perm(len(targets))
		planted := 0
		for _, i := range at {
			changed := w.new(targets[i])
			if !mistakes.Kinds[name](r, &changed) {
				continue
			}
			c := w.comparing(t, func(target string, a reply) reply {
				if target == targets[i] {
					return changed
				}
				return a
			})
			outcome, err := c.Ask(t.Context(), compare.Request{Method: "GET", Target: targets[i]})
			if outcome != "differ" {
				t.Errorf("%s: %s in %s: %v", name, outcome, targets[i], err)
				for _, g := range c.Report().Differences() {
					t.Logf("%+v: %q, %q", g.Place, g.Examples[0].Old, g.Examples[0].New)
				}
			}
			if planted++; planted == each {
				break
			}
		}
		if planted == 0 {
			t.Errorf("%s: no answer has it", name)
		}
	}
}
