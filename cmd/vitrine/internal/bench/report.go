package bench

import (
	_ "embed"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/template"
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
	Rows       int                // activities
	BSON       int64              // of the activities, in the source collection
	Build      time.Duration      // of all views from nothing
	Start      time.Duration      // of a process until /readyz answers 200; the views were built before
	Scan       time.Duration      // to read all activities from the store, without load
	Ready, End Memory             // when every view was loaded and every job had run; after all cases
	Results    map[string]*Result // by case
	Refresh    Refresh
}

// Memory is the memory of the serving process after a garbage collection.
type Memory struct {
	Rows, Indexes int64 // BSON of all views, and their path indexes
	Own           int64 // resident without file pages; 0 where the system does not report it
}

// Result is the outcome of one case: medians over the rounds.
type Result struct {
	Requests int     // of all rounds
	Bytes    int64   // of an answer
	Rate     float64 // requests per second
	P50, P99 time.Duration
	Ratio    float64 // of Rate to the bare handler's; 0 if the answer is too long to be held
	Spread   float64 // half the distance from the lowest ratio of all rounds to the highest
}

// Refresh is the outcome of changing records under load: medians over the rounds.
type Refresh struct {
	Visible, Publish time.Duration // from the job's start; Publish to the store's commit
	SteadyP99        time.Duration
	P99              time.Duration // from the job's start to half a second after it was visible
	Ratio            float64       // of P99 to SteadyP99, round by round
}

//go:embed report.md
var tableSource string

var table = template.Must(template.New("").Funcs(template.FuncMap{
	"cases": cases, "number": number, "size": size, "time": short, "escape": strings.NewReplacer("$", `\$`).Replace,
	"count": func(n int) string { return humanize.Comma(int64(n)) }, "bytes": func(n int64) string { return humanize.Bytes(uint64(n)) },
}).Parse(tableSource))

// Measured reports whether a case was measured with any store.
func (r Report) Measured(name string) bool {
	return slices.ContainsFunc(r.Runs, func(one RunOf) bool { return one.Results[name] != nil })
}

// Table returns the report as one table in Markdown, with a column for each store.
func (r Report) Table() (string, error) {
	var b strings.Builder
	err := table.Execute(&b, r)
	return b.String(), err
}

// Write puts the table between the marks of a Markdown document, instead of what stands there.
func Write(document, table string) error {
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
	return os.WriteFile(document, []byte(before+begin+"\n"+table+"\n"+end+after), 0o644)
}

// short prints a duration to three digits.
func short(d time.Duration) string {
	if d == 0 {
		return "–" // not measured
	}
	step := time.Microsecond
	for step*1000 <= d {
		step *= 10
	}
	return d.Round(step).String()
}

// size prints bytes.
func size(n int64) string { return number(float64(n)/1e6) + " MB" }

// number prints a figure to three digits; to two below 1, and all before the point above a thousand.
func number(f float64) string {
	switch {
	case f == 0:
		return "–"
	case f >= 999.5:
		return humanize.Comma(int64(math.Round(f)))
	case f < 1:
		return strconv.FormatFloat(f, 'g', 2, 64)
	}
	return strconv.FormatFloat(f, 'g', 3, 64)
}

// median returns the middle figure, the mean of the middle two where their number is even, and 0 of
// none.
func median[E any, T float64 | time.Duration | int64](all []E, figure func(E) T) T {
	var sorted []T
	for _, e := range all {
		sorted = append(sorted, figure(e))
	}
	slices.Sort(sorted)
	if n := len(sorted); n > 0 {
		return (sorted[(n-1)/2] + sorted[n/2]) / 2
	}
	return 0
}
