package usage

import (
	"math"
	"slices"
	"time"
)

// minus returns the counts that came after an earlier state of the same histogram.
func (h Histogram) minus(before Histogram) Histogram {
	counts := slices.Clone(h.Counts)
	for i := range min(len(counts), len(before.Counts)) {
		counts[i] -= before.Counts[i]
	}
	return Histogram{Counts: counts, Buckets: h.Buckets}
}

// Quantile returns a duration that the share q of the values stayed within: the
// upper end of the range that holds it. 0 if there are no values.
func (h Histogram) Quantile(q float64) time.Duration {
	total := uint64(0)
	for _, n := range h.Counts {
		total += n
	}
	if total == 0 {
		return 0
	}
	rank, seen := uint64(math.Ceil(q*float64(total))), uint64(0)
	for i, n := range h.Counts {
		if seen += n; n > 0 && seen >= rank {
			return seconds(h.edge(i))
		}
	}
	return 0
}

// edge is the upper end of the i-th range, or the lower one if that is infinite.
func (h Histogram) edge(i int) float64 {
	if up := h.Buckets[i+1]; !math.IsInf(up, 0) {
		return up
	}
	return h.Buckets[i]
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
