package memory

import (
	"math"
	"runtime/debug"
	"testing"
)

func TestPercentOf(t *testing.T) {
	const gib = 1 << 30
	for _, tt := range []struct {
		percent int
		live    uint64
		want    int
	}{
		{50, 0, 50}, {50, 1 * gib, 50}, {50, 4 * gib, 50}, {50, 8 * gib, 25}, {400, 1 * gib, 200}, {50, 1 << 50, 1}, {10, 8 * gib, 10},
	} {
		if got := percentOf(tt.percent, tt.live); got != tt.want {
			t.Errorf("%d%% of %d bytes: %d%%, want %d%%", tt.percent, tt.live, got, tt.want)
		}
	}
}

// restore sets the collector back after a test that tunes it.
func restore(t *testing.T) {
	percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(-1)
	debug.SetGCPercent(percent)
	t.Cleanup(func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	})
}

// current returns the collector's percentage.
func current() int {
	percent := debug.SetGCPercent(100)
	debug.SetGCPercent(percent)
	return percent
}

// TestTune: the settings count unless Go's own variables are set.
func TestTune(t *testing.T) {
	for _, tt := range []struct {
		name, gogc, gomemlimit string
		percent                int
		limit                  int64
		wantPercent            int
		wantLimit              int64
	}{
		{"both", "", "", 70, 1 << 33, 70, 1 << 33},
		{"Go's percentage", "30", "", 70, 1 << 33, 100, 1 << 33},
		{"Go's limit", "", "1GiB", 70, 1 << 33, 70, math.MaxInt64},
		{"no percentage", "", "", 0, 1 << 33, 100, 1 << 33},
	} {
		t.Run(tt.name, func(t *testing.T) {
			restore(t)
			debug.SetGCPercent(100)
			debug.SetMemoryLimit(math.MaxInt64)
			t.Setenv("GOGC", tt.gogc)
			t.Setenv("GOMEMLIMIT", tt.gomemlimit)
			Tune(tt.percent, tt.limit)
			if got, limit := current(), debug.SetMemoryLimit(-1); got != tt.wantPercent || limit != tt.wantLimit {
				t.Errorf("%d %% and %d bytes, want %d %% and %d", got, limit, tt.wantPercent, tt.wantLimit)
			}
		})
	}
}

// TestCollector: with little live memory the percentage is the configured one; without one,
// or with Go's own variable, nothing is set.
func TestCollector(t *testing.T) {
	for _, tt := range []struct {
		name, gogc    string
		percent, want int
	}{
		{"configured", "", 60, 60}, {"none", "", 0, 100}, {"negative", "", -1, 100}, {"Go's", "30", 60, 100},
	} {
		t.Run(tt.name, func(t *testing.T) {
			restore(t)
			debug.SetGCPercent(100)
			t.Setenv("GOGC", tt.gogc)
			c := NewCollector(tt.percent)
			c.Adjust()
			c.Adjust()
			if got := current(); got != tt.want {
				t.Errorf("%d %%, want %d %%", got, tt.want)
			}
		})
	}
}

func TestAtMostEighth(t *testing.T) {
	restore(t)
	debug.SetMemoryLimit(8000)
	for bytes, want := range map[int64]int64{0: 0, 999: 999, 1000: 1000, 1001: 1000, math.MaxInt64: 1000} {
		if got := AtMostEighth(bytes); got != want {
			t.Errorf("AtMostEighth(%d) = %d, want %d", bytes, got, want)
		}
	}
	debug.SetMemoryLimit(math.MaxInt64)
	if got := AtMostEighth(1 << 10); got != 1<<10 { // any machine has 8 KiB
		t.Errorf("without a limit: %d", got)
	}
}
