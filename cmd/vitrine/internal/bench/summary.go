package bench

import (
	"slices"
	"time"

	"vitrine/cmd/vitrine/internal/bench/load"
)

// medianOf is the median of a figure over rounds.
func medianOf[T float64 | time.Duration | int64](rounds []side, of func(side) T) T {
	values := make([]T, len(rounds))
	for i, s := range rounds {
		values[i] = of(s)
	}
	return load.Median(values)
}

// quantile returns the figure "the share q of a round's requests stayed within".
func quantile(q float64) func(side) time.Duration {
	return func(s side) time.Duration { return s.Latencies().Quantile(q) }
}

func (s side) rate() float64            { return s.Rate() }
func (s side) processor() time.Duration { return s.cpu }

// sum fills in the figures of the front end.
func (r *Result) sum(rounds []side) {
	r.Rate, r.CPU = medianOf(rounds, side.rate), medianOf(rounds, side.processor)
	r.P50, r.P99 = medianOf(rounds, quantile(0.50)), medianOf(rounds, quantile(0.99))
	r.Bytes = medianOf(rounds, func(s side) int64 { return s.Mean() })
	hits, answers := 0, 0
	for _, s := range rounds {
		r.Seen += len(s.Requests)
		hits += s.Hits
		answers += s.Hits + s.Misses
	}
	if answers > 0 {
		r.Hits = float64(hits) / float64(answers)
	}
}

// against fills in the figures of the bare handler. Ratios are taken round by round: the
// two sides of a round had the same conditions.
func (r *Result) against(ours, theirs []side) {
	if len(theirs) == 0 {
		return
	}
	ratios := make([]float64, len(theirs))
	for i := range theirs {
		ratios[i] = ours[i].Rate() / theirs[i].Rate()
	}
	r.Bare = &Bare{
		Rate: medianOf(theirs, side.rate), CPU: medianOf(theirs, side.processor),
		P50: medianOf(theirs, quantile(0.50)), P99: medianOf(theirs, quantile(0.99)),
		Ratio: load.Median(ratios), Low: slices.Min(ratios), High: slices.Max(ratios),
	}
}

// Start is the median time until the serving process was ready.
func (m *Measurement) Start() time.Duration {
	times := make([]time.Duration, len(m.Starts))
	for i, s := range m.Starts {
		times[i] = s.Ready
	}
	return load.Median(times)
}
