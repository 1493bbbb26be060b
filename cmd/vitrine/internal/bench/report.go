package bench

import (
	"bufio"
	"os"
	"runtime"
	"strings"
	"time"

	"vitrine/cmd/vitrine/internal/bench/usage"
)

// Report is everything that was measured in one go. Durations are in nanoseconds,
// sizes in bytes.
type Report struct {
	Machine Machine       `json:"machine"`
	Began   time.Time     `json:"began"`
	Rounds  int           `json:"rounds"`
	Each    time.Duration `json:"duration_ns"` // of one side in one round
	Runs    []Measurement `json:"runs"`
}

// Machine is where it was measured.
type Machine struct {
	Processor  string `json:"processor"`
	Processors int    `json:"processors"` // those the program uses
	System     string `json:"system"`
	Go         string `json:"go"`
}

// Measurement is what was measured on one store.
type Measurement struct {
	Store string        `json:"store"`
	Rows  int           `json:"rows"`     // activities
	BSON  int64         `json:"bson"`     // of the activities, in the source collection
	Fill  time.Duration `json:"fill_ns"`  // making and storing the records; 0: they were there
	Build time.Duration `json:"build_ns"` // the first full build of all views; 0: they were there
	// BuildMost is the most anonymous memory of the process that filled and built.
	BuildMost int64    `json:"build_most"`
	Starts    []Start  `json:"starts"`  // from a store whose views are built
	Memory    *Memory  `json:"memory"`  // nil: not asked for
	Results   []Result `json:"results"` // one for each case
	Refresh   *Refresh `json:"refresh"` // nil: not asked for, or not possible
	Pauses    *Pauses  `json:"gc"`      // while the cases were measured
	Notes     []string `json:"notes"`   // what was left out, and why
	Against   string   `json:"against"` // the other server; empty: none
	Indexed   []string `json:"indexed"` // paths by whose index the other server answers
}

// Start is one start of the serving process.
type Start struct {
	Ready time.Duration `json:"ready_ns"` // from the start of the process to 200 from /readyz
}

// Memory is what the serving process holds.
type Memory struct {
	Rows    int64        `json:"row_bytes"`   // BSON of all views
	Indexes int64        `json:"index_bytes"` // path indexes, in the end
	Loaded  usage.Memory `json:"loaded"`      // when every view was loaded and every job had run
	Settled usage.Memory `json:"settled"`     // then, after a collection
	After   usage.Memory `json:"after"`       // after all cases, as it was
	Most    int64        `json:"most"`        // anonymous at any time since the start
}

// Result is what one case came to: medians over the rounds.
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
	Hits  float64       `json:"hits"`     // share of answers from the result cache
	CPU   time.Duration `json:"cpu_ns"`   // processor time of the serving process, per request
	Seen  int           `json:"requests"` // of all rounds

	Bare *Bare `json:"bare"` // nil: the answer is too long to be held
	// Stores are the same question elsewhere.
	Stores []Asked `json:"stores"`
}

// Bare is what the bare handler came to with the same bytes.
type Bare struct {
	Rate  float64       `json:"rate"`
	P50   time.Duration `json:"p50_ns"`
	P99   time.Duration `json:"p99_ns"`
	CPU   time.Duration `json:"cpu_ns"`
	Ratio float64       `json:"ratio"`     // of the rates, round by round: 1 is as fast
	Low   float64       `json:"ratio_low"` // of all rounds
	High  float64       `json:"ratio_high"`
}

// spread is how far the rounds lay around the ratio.
func (b *Bare) spread() float64 { return (b.High - b.Low) / 2 }

// Asked is a store's time for the question of a case.
type Asked struct {
	Store  string        `json:"store"` // "scan" for the embedded one, "source" for a MongoDB, or "against"
	P50    time.Duration `json:"p50_ns"`
	Times  int           `json:"times"`
	Factor float64       `json:"factor"` // how many times longer than the front end's median
	By     string        `json:"by"`     // "index" or "scan": what the store had to do
	Error  string        `json:"error,omitempty"`
}

// asked returns a store's time, or nil.
func (r *Result) asked(kind string) *Asked {
	for i := range r.Stores {
		if r.Stores[i].Store == kind {
			return &r.Stores[i]
		}
	}
	return nil
}

// result returns a case's result; nil if it was not measured.
func (m *Measurement) result(name string) *Result {
	for i := range m.Results {
		if m.Results[i].Name == name {
			return &m.Results[i]
		}
	}
	return nil
}

// Refresh is what changing records under load came to: medians over the rounds.
type Refresh struct {
	Changed   int           `json:"changed"` // records per round
	Rate      int           `json:"rate"`    // requests per second meanwhile
	Visible   time.Duration `json:"visible_ns"`
	Publish   time.Duration `json:"publish_ns"` // from the job's start to the store's commit
	Swap      time.Duration `json:"swap_ns"`    // from there to the answers
	Scan      time.Duration `json:"scan_ns"`    // reading all activities from the store, with nothing else going on
	SteadyP50 time.Duration `json:"steady_p50_ns"`
	SteadyP99 time.Duration `json:"steady_p99_ns"`
	P50       time.Duration `json:"p50_ns"` // from the job's start to half a second after it was visible
	P99       time.Duration `json:"p99_ns"`
	Ratio     float64       `json:"p99_ratio"` // round by round
	Rounds    int           `json:"rounds"`
	Trace     Trace         `json:"trace"` // of the last round
}

// Trace is one round, moment by moment, relative to the job's start.
type Trace struct {
	Published time.Duration `json:"published_ns"`
	Visible   time.Duration `json:"visible_ns"`
	Points    []Point       `json:"points"`
}

// Point is the slowest request of a short moment.
type Point struct {
	At   time.Duration `json:"at_ns"`
	Took time.Duration `json:"took_ns"`
}

// Pauses are the serving process's garbage collections.
type Pauses struct {
	Cycles uint64        `json:"cycles"`
	P50    time.Duration `json:"p50_ns"` // a pause
	P99    time.Duration `json:"p99_ns"`
	Max    time.Duration `json:"max_ns"`
	Share  float64       `json:"share"` // of the process's processor time
}

// thisMachine describes where the program runs.
func thisMachine() Machine {
	return Machine{
		Processor:  processorName(),
		Processors: runtime.GOMAXPROCS(0),
		System:     runtime.GOOS + "/" + runtime.GOARCH,
		Go:         runtime.Version(),
	}
}

// processorName asks Linux; elsewhere it is unknown.
func processorName() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown"
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}
