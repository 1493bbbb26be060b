package bench

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// Report is what one call of Run measured. Its JSON has durations in nanoseconds and sizes in bytes.
type Report struct {
	Commit, Machine string
	Began           time.Time
	Rounds          int
	Each            time.Duration // of one side in one round
	Runs            []RunOf
}

// RunOf is the measurement of one store. What was not measured is 0.
type RunOf struct {
	Rows        int             // activities
	BSON        int64           // of the activities, in the source collection
	Fill, Build time.Duration   // to make and store the records, and all views from nothing
	Starts      []time.Duration // from the start of a process until /readyz answers 200; the views were built before
	Scan        time.Duration   // to read all activities from the store, without load
	Ready       Memory          // when every view was loaded and every job had run
	Collected   Memory          // then, after a garbage collection
	End         Memory          // after all cases
	Results     []Result        // one for each case
	Refresh     Refresh
	Notes       []string // what was left out, and why
}

// Memory is the memory of the serving process. Figures of the operating system are 0 where it
// reports none.
type Memory struct {
	Rows, Indexes int64 // BSON of all views, and their path indexes
	Anonymous     int64 // resident: heap, stacks and the like
	Resident      int64 // with the file pages of an embedded store
	Peak          int64 // the most that was ever resident
}

// Result is the outcome of one case: medians over the rounds.
type Result struct {
	Name, Title             string
	Fresh                   bool // no question was asked twice
	Conns, Rounds, Requests int  // requests of all rounds
	Bytes                   int64
	Rate                    float64 // requests per second
	P50, P99, First         time.Duration
	// Ratio is the share of the bare handler's requests per second, which sent the same bytes; Low
	// and High are those of all rounds. They are 0 if the answer is too long to be held.
	Ratio, Low, High float64
}

// Refresh is the outcome of changing records under load: medians over the rounds.
type Refresh struct {
	Visible, Publish     time.Duration // from the job's start; Publish to the store's commit
	SteadyP50, SteadyP99 time.Duration
	P50, P99             time.Duration // from the job's start to half a second after it was visible
	Ratio                float64       // of P99 to SteadyP99, round by round
	Rounds               int
}

// figures are the rows of the table above the cases.
var figures = []struct {
	label string
	cell  func(RunOf) string
}{
	{"activities", func(r RunOf) string { return humanize.Comma(int64(r.Rows)) }},
	{"---", func(RunOf) string { return "---:" }},
	{"BSON of the activities", func(r RunOf) string { return size(r.BSON) }},
	{"records made and stored", func(r RunOf) string { return short(r.Fill) }},
	{"all views built", func(r RunOf) string { return short(r.Build) }},
	{"start to ready", func(r RunOf) string { return short(medianOf(r.Starts)) }},
	{"BSON of all views", func(r RunOf) string { return size(r.Ready.Rows) }},
	{"memory when ready: resident (the process's own)", func(r RunOf) string { return r.Ready.text() }},
	{"… after a collection", func(r RunOf) string { return r.Collected.text() }},
	{"… in the end", func(r RunOf) string { return r.End.text() }},
	{"… at most", func(r RunOf) string { return size(r.End.Peak) }},
	{"path indexes in the end", func(r RunOf) string { return size(r.End.Indexes) }},
	{"a scan of all activities", func(r RunOf) string { return short(r.Scan) }},
	{"refresh: job start to published", func(r RunOf) string { return short(r.Refresh.Publish) }},
	{"… to visible", func(r RunOf) string { return short(r.Refresh.Visible) }},
	{"traffic: p50, p99 steady", func(r RunOf) string { return short(r.Refresh.SteadyP50) + ", " + short(r.Refresh.SteadyP99) }},
	{"… meanwhile", func(r RunOf) string { return short(r.Refresh.P50) + ", " + short(r.Refresh.P99) }},
	{"… p99, meanwhile against steady", func(r RunOf) string { return number(r.Refresh.Ratio) + " ×" }},
}

// Table returns the report as one table in Markdown, with a column for each store.
func (r Report) Table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s at %s: %s; medians of %d rounds of %s a side.\n", r.Began.Format(time.DateOnly), r.Commit, r.Machine, r.Rounds, r.Each)
	b.WriteString("A case shows requests/s and the bytes of an answer; p50, p99 and the first answer; requests/s against the bare handler's.\n\n")
	row := func(label string, cell func(RunOf) string) {
		b.WriteString("| " + strings.ReplaceAll(label, "$", `\$`) + " |")
		for _, run := range r.Runs {
			b.WriteString(" " + cell(run) + " |")
		}
		b.WriteByte('\n')
	}
	for _, f := range figures {
		row(f.label, f.cell)
	}
	for _, c := range cases() {
		measured := func(run RunOf) int {
			return slices.IndexFunc(run.Results, func(x Result) bool { return x.Name == c.Name })
		}
		if slices.ContainsFunc(r.Runs, func(run RunOf) bool { return measured(run) >= 0 }) {
			row("`"+c.Name+"`: "+c.Title, func(run RunOf) string {
				if i := measured(run); i >= 0 {
					return run.Results[i].text()
				}
				return dash
			})
		}
	}
	for _, run := range r.Runs {
		for _, note := range run.Notes {
			fmt.Fprintf(&b, "\n%s activities: %s\n", humanize.Comma(int64(run.Rows)), note)
		}
	}
	return b.String()
}

// Write puts the table between the marks of a Markdown document, instead of what stands there.
func (r Report) Write(document string) error {
	const begin, end = "<!-- bench -->\n", "<!-- /bench -->\n"
	text, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	before, rest, begins := strings.Cut(string(text), begin)
	_, after, ends := strings.Cut(rest, end)
	if !begins || !ends {
		return fmt.Errorf("%s: there is no place for the table: lines %q and %q", document, begin, end)
	}
	return os.WriteFile(document, []byte(before+begin+"\n"+r.Table()+"\n"+end+after), 0o644)
}

func (m Memory) text() string { return fmt.Sprintf("%s (%s)", size(m.Resident), size(m.Anonymous)) }

func (r Result) text() string {
	bare := dash
	if r.Ratio > 0 {
		bare = number(r.Ratio) + " ± " + number((r.High-r.Low)/2)
	}
	return fmt.Sprintf("%s/s, %s; %s, %s, %s; %s", number(r.Rate), humanize.Bytes(uint64(r.Bytes)), short(r.P50), short(r.P99), short(r.First), bare)
}

// dash stands for a figure that was not measured.
const dash = "–"

// short prints a duration to three digits.
func short(d time.Duration) string {
	if d == 0 {
		return dash
	}
	step := time.Microsecond
	for step*1000 <= d {
		step *= 10
	}
	return d.Round(step).String()
}

// size prints bytes.
func size(n int64) string {
	if n == 0 {
		return dash
	}
	return number(float64(n)/1e6) + " MB"
}

// number prints a figure to three digits; to two below 1, and all before the point above a thousand.
func number(f float64) string {
	switch {
	case f == 0:
		return dash
	case f >= 999.5:
		return humanize.Comma(int64(math.Round(f)))
	case f < 1:
		return strconv.FormatFloat(f, 'g', 2, 64)
	}
	return strconv.FormatFloat(f, 'g', 3, 64)
}

// median returns the median of a figure.
func median[E any, T float64 | time.Duration | int64](all []E, figure func(E) T) T {
	figures := make([]T, len(all))
	for i, e := range all {
		figures[i] = figure(e)
	}
	return medianOf(figures)
}

// medianOf returns the middle figure, the mean of the middle two where their number is even, and
// 0 of none.
func medianOf[T float64 | time.Duration | int64](figures []T) T {
	n := len(figures)
	if n == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(figures))
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
