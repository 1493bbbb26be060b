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

// Report has the results of one call of Run.
type Report struct {
	Commit, Machine string
	Began           time.Time
	Rounds          int
	Each            time.Duration // duration of one side in one round
	Runs            []RunOf
}

// RunOf has the results with one store. Values that were not measured are 0.
type RunOf struct {
	Rows       int                            // number of activities
	Build      time.Duration                  // time to build all views from nothing
	Start      time.Duration                  // time from starting a process until /readyz returns 200, with views already built
	Scan       time.Duration                  // time to read all activities from the store, without load
	Ready, End Memory                         // when every view was loaded and every job had run; and after all cases
	Results    map[string]*Result             // by case
	Beside     map[string][len(crowds)]Beside // by costly case
	Refresh    Refresh
}

// Result is the result of one case: medians over the rounds.
type Result struct {
	Bytes     int64   // average size of an answer
	Rate      float64 // requests per second
	P50       time.Duration
	Processor time.Duration // of the front end, per request
	Ratio     float64       // Rate divided by the bare handler's; 0 if the answer is too long for it
	Share     float64       // the bare handler's processor time divided by the front end's
	Spread    float64       // half the difference between the highest and the lowest ratio of all rounds
}

// Throughput returns the megabytes of answers per second.
func (r Result) Throughput() float64 { return r.Rate * float64(r.Bytes) / 1e6 }

// Refresh is the result of changing records under load: medians over the rounds.
type Refresh struct {
	Visible   time.Duration // from the job's start
	SteadyP99 time.Duration
	P99       time.Duration // from the change to half a second after it was visible
}

// Ratio returns P99 divided by SteadyP99.
func (r Refresh) Ratio() float64 { return r.P99.Seconds() / max(r.SteadyP99.Seconds(), 1e-9) }

//go:embed report.md
var tableSource string

var table = template.Must(template.New("").Funcs(template.FuncMap{
	"cases": cases, "number": number, "escape": strings.NewReplacer("$", `\$`).Replace,
	"count": func(n int) string { return humanize.Comma(int64(n)) },
	"µs":    func(d time.Duration) string { return number(d.Seconds() * 1e6) },
	"ms":    func(d time.Duration) string { return number(d.Seconds() * 1e3) },
	"MB":    func(n int64) string { return number(float64(n) / 1e6) },
}).Parse(tableSource))

// Measured reports whether a case was measured with any store.
func (r Report) Measured(name string) bool {
	return slices.ContainsFunc(r.Runs, func(one RunOf) bool { return one.Results[name] != nil })
}

// Table returns the report in Markdown, with a column for each store.
func (r Report) Table() (string, error) {
	var b strings.Builder
	err := table.Execute(&b, r)
	return b.String(), err
}

// Write puts the table between the marks of a Markdown document, in place of the previous one.
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

// number formats a figure with three digits, and without decimals above a thousand.
func number(f float64) string {
	if f == 0 {
		return "–"
	}
	if f >= 999.5 {
		return humanize.Comma(int64(math.Round(f)))
	}
	return strconv.FormatFloat(f, 'g', 3, 64)
}
