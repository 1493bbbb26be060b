// Package report holds the figures that package bench measures, and shows them.
//
// JSON keeps durations in nanoseconds and sizes in bytes.
package report

import (
	"slices"
	"time"
)

// Report is what one call of bench measured.
type Report struct {
	Machine Machine       `json:"machine"`
	Began   time.Time     `json:"began"`
	Rounds  int           `json:"rounds"`
	Each    time.Duration `json:"duration_ns"` // of one side in one round
	Runs    []Run         `json:"runs"`
}

// Machine describes where the measurement ran.
type Machine struct {
	Processor  string `json:"processor"`
	Processors int    `json:"processors"` // those the program uses
	System     string `json:"system"`
	Go         string `json:"go"`
}

// Run is the measurement of one store.
type Run struct {
	Store   string          `json:"store"`
	Rows    int             `json:"rows"`             // activities
	BSON    int64           `json:"bson"`             // of the activities, in the source collection
	Fill    time.Duration   `json:"fill_ns"`          // to make and store the records; 0: an earlier run did
	Build   time.Duration   `json:"build_ns"`         // to build all views from nothing; 0: an earlier run did
	Starts  []time.Duration `json:"starts_ns"`        // from the start of a process until /readyz answers 200; the views were built before
	Memory  Memory          `json:"memory,omitzero"`  // zero: not chosen
	Results []Result        `json:"results"`          // one for each case
	Refresh Refresh         `json:"refresh,omitzero"` // zero: not chosen
	Notes   []string        `json:"notes"`            // what was left out, and why
}

// Start is the median of the starts.
func (m Run) Start() time.Duration { return MedianOf(m.Starts) }

// Memory is the memory of the serving process.
type Memory struct {
	Rows    int64 `json:"row_bytes"`   // BSON of all views
	Indexes int64 `json:"index_bytes"` // path indexes, in the end
	Loaded  Held  `json:"loaded"`      // when every view was loaded and every job had run
	Settled Held  `json:"settled"`     // then, after a garbage collection
	After   Held  `json:"after"`       // after all cases, as it was
}

// Held is the memory of a process at one time. Figures of the operating system are 0 where
// it reports none.
type Held struct {
	Anonymous int64 `json:"anonymous"` // resident: heap, stacks and the like
	Resident  int64 `json:"resident"`  // with the file pages of an embedded store
	Peak      int64 `json:"peak"`      // the most that was ever resident
}

// Result is the outcome of one case: medians over the rounds.
type Result struct {
	Name  string        `json:"name"`
	Title string        `json:"title"`
	Fresh bool          `json:"fresh"` // no question was asked twice
	Conns int           `json:"conns"`
	Took  int           `json:"rounds"`
	Bytes int64         `json:"bytes"` // of one body, on average
	Rate  float64       `json:"rate"`  // requests per second
	P50   time.Duration `json:"p50_ns"`
	P99   time.Duration `json:"p99_ns"`
	First time.Duration `json:"first_ns"` // of the very first request: what it needs is built
	Seen  int           `json:"requests"` // of all rounds

	Bare *Bare `json:"bare"` // nil: the answer is too long to be held
}

// Bare compares with the bare handler, which sent the same bytes.
type Bare struct {
	Ratio float64 `json:"ratio"`      // of the requests per second, median of the rounds: 1 is as fast
	Low   float64 `json:"ratio_low"`  // of all rounds
	High  float64 `json:"ratio_high"` // of all rounds
}

// Spread is the distance of the rounds from the ratio.
func (b *Bare) Spread() float64 { return (b.High - b.Low) / 2 }

// Refresh is the outcome of changing records under load: medians over the rounds.
type Refresh struct {
	Changed   int           `json:"changed"` // records per round
	Rate      int           `json:"rate"`    // requests per second meanwhile
	Visible   time.Duration `json:"visible_ns"`
	Publish   time.Duration `json:"publish_ns"` // from the job's start to the store's commit
	Scan      time.Duration `json:"scan_ns"`    // to read all activities from the store, without load
	SteadyP50 time.Duration `json:"steady_p50_ns"`
	SteadyP99 time.Duration `json:"steady_p99_ns"`
	P50       time.Duration `json:"p50_ns"` // from the job's start to half a second after it was visible
	P99       time.Duration `json:"p99_ns"`
	Ratio     float64       `json:"p99_ratio"` // round by round
	Rounds    int           `json:"rounds"`
}

// Median returns the median of a figure.
func Median[E any, T float64 | time.Duration | int64](all []E, figure func(E) T) T {
	figures := make([]T, len(all))
	for i, e := range all {
		figures[i] = figure(e)
	}
	return MedianOf(figures)
}

// MedianOf returns the middle figure, the mean of the middle two where their number is
// even, and 0 of none.
func MedianOf[T float64 | time.Duration | int64](figures []T) T {
	n := len(figures)
	if n == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(figures))
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
