package usage_test

import (
	"math"
	"os"
	"runtime"
	"testing"
	"time"

	"vitrine/cmd/vitrine/internal/bench/usage"
)

func TestRead(t *testing.T) {
	before := usage.Read()
	runtime.GC()
	used := usage.Read().Since(before)
	if used.Cycles == 0 || used.Pauses.Quantile(1) <= 0 || used.CPU < 0 {
		t.Errorf("a collection went by unnoticed: %+v", used)
	}
	m := used.Memory
	if m.Heap <= 0 {
		t.Errorf("heap %d", m.Heap)
	}
	if runtime.GOOS == "linux" && (m.Anonymous <= 0 || m.Resident < m.Anonymous || m.Peak < m.Anonymous) {
		t.Errorf("memory %+v", m)
	}
}

func TestWatch(t *testing.T) {
	w := usage.NewWatch(os.Getpid())
	most := w.End()
	if runtime.GOOS == "linux" && most <= 0 || most != w.End() {
		t.Errorf("%d bytes, then %d", most, w.End())
	}
}

func TestQuantile(t *testing.T) {
	edges := []float64{math.Inf(-1), 0, 1, 2, math.Inf(1)}
	tests := []struct {
		name   string
		counts []uint64
		q      float64
		want   time.Duration
	}{
		{"no values", []uint64{0, 0, 0, 0}, 0.5, 0},
		{"the middle", []uint64{0, 5, 5, 0}, 0.5, time.Second},
		{"just above the middle", []uint64{0, 5, 5, 0}, 0.51, 2 * time.Second},
		{"the most", []uint64{0, 5, 5, 0}, 1, 2 * time.Second},
		{"beyond the last edge", []uint64{0, 0, 0, 1}, 1, 2 * time.Second},
	}
	for _, tt := range tests {
		if got := (usage.Histogram{Counts: tt.counts, Buckets: edges}).Quantile(tt.q); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}
