package result_test

import (
	"testing"

	"vitrine/cache/result"
)

// TestSized: answers in the cache take no more than the budget, whatever the share for large ones,
// and the longest answer that the cache may keep fits there.
func TestSized(t *testing.T) {
	const mib = 1 << 20
	for name, tt := range map[string]struct{ budget, inFlight, kept, large int64 }{
		"as configured":   {96 * mib, 128 * mib, 16 * mib, 48 * mib},
		"little memory":   {96 * mib, 12 * mib, 4 * mib, 48 * mib},
		"small budget":    {4 * mib, 128 * mib, 2 * mib, 2 * mib},
		"none for large":  {mib, 128 * mib, mib / 2, 0},
		"nothing is kept": {0, 128 * mib, 16 * mib, 0},
	} {
		o, kept := result.Sized(tt.budget, tt.inFlight)
		if kept != int(tt.kept) || o.LargeBudget != tt.large || o.Budget+o.LargeBudget != tt.budget ||
			o.InFlight != tt.inFlight {
			t.Errorf("%s: up to %d bytes kept, budgets of %d and %d", name, kept, o.Budget, o.LargeBudget)
		}
	}
}
