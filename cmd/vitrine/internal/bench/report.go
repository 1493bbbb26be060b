package bench

import (
	_ "embed"
	"fmt"
	"math"
	"os"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/dustin/go-humanize"
)

// Report has the results of one call of Run.
//
// Its fields are those of the JSON form, in which durations are nanoseconds.
type Report struct {
	Commit, Machine string
	Began           time.Time
	Rounds          int
	Each            time.Duration // duration of one side in one round
	Runs            []RunOf
}

// RunOf has the results with one store. Values that were not measured are 0.
type RunOf struct {
	Rows                  int           // number of activities
	Build, BuildProcessor time.Duration // to build all views from nothing
	Start, FileStart      Start         // from the store; without jobs, from snapshot files
	End                   Memory        // after all cases
	// the collections' share of the processor time, all cases together
	Collector float64
	Results   map[string]*Result             // by case
	Beside    map[string][len(crowds)]Beside // by costly case
	// time to compress the answer of streamedCase and nothing else, divided by its p50
	Streaming     float64
	Refresh, Full Refresh // Full: the job rendered all records
}

// Result is the result of one case: medians over the rounds.
type Result struct {
	Rate      float64 // requests per second
	P50, P99  time.Duration
	Processor time.Duration // of the front end, per request
	Ratio     float64       // Rate divided by the bare handler's; 0 if it does not send the answer
	Share     float64       // the bare handler's processor time divided by the front end's
	Spread    float64       // half the difference between the highest and the lowest ratio of all rounds
}

// Refresh is the result of changing records under load: the round with the median ratio.
type Refresh struct {
	Visible   time.Duration // from the job's start
	SteadyP99 time.Duration
	P99       time.Duration // from the change to half a second after it was visible
}

// Alone returns the processor time if all processors had shared it evenly and nothing else had taken time.
func (r Result) Alone() time.Duration { return r.Processor / time.Duration(runtime.GOMAXPROCS(0)) }

// Beyond returns the memory of its own beyond what every process has, in bytes.
func (m Memory) Beyond() int64 { return max(m.Own-100e6, 0) }

//go:embed report.md
var tableSource string

var table = template.Must(template.New("").Funcs(template.FuncMap{
	"cases": cases, "number": number, "escape": strings.NewReplacer("$", `\$`).Replace,
	"count": func(n int) string { return humanize.Comma(int64(n)) },
	"m":     func(v reflect.Value) string { return number(float64(v.Int()) / 1e6) }, // of nanoseconds or bytes
	"div":   func(a, b reflect.Value) string { return number(float64(a.Int()) / max(float64(b.Int()), 1)) },
}).Parse(tableSource))

// Measured reports whether a case was measured with any store.
func (r Report) Measured(name string) bool {
	return slices.ContainsFunc(r.Runs, func(one RunOf) bool { return one.Results[name] != nil })
}

// Crowded reports whether others were measured beside a case, or beside any if the name is empty.
func (r Report) Crowded(name string) bool {
	return slices.ContainsFunc(r.Runs, func(one RunOf) bool {
		_, ok := one.Beside[name]
		return ok || name == "" && len(one.Beside) > 0
	})
}

// Table returns the report in Markdown, with a column for each store.
func (r Report) Table() (string, error) {
	var b strings.Builder
	if err := table.Execute(&b, r); err != nil {
		return "", err
	}
	lines, marked := strings.SplitAfter(b.String(), "\n"), 0
	for i, line := range lines {
		if lines[i] = r.mark(line); lines[i] != line {
			marked++
		}
	}
	return fmt.Sprintf(
		"%s\nRows with a figure more than 1.2 times as large as the number of activities explains (!): %d.\n",
		strings.Join(lines, ""), marked), nil
}

// figures matches the figures of a cell; ratios, which have no value, with all that follows.
var figures = regexp.MustCompile(`–|×\S*|[\d.,]+±[^|]*|[\d,]+(\.\d+)?(e-\d+)?`)

// mark marks the figures of a row that grow out of proportion from one store to the next. A cost that grows with
// the records is expected; one that grows faster is what the measurement of several sizes looks for. A fifth more
// is within the spread. A mark (!) is the only judgement in the table: which growth is right, a reader decides.
func (r Report) mark(line string) string {
	cells := strings.Split(line, "|")
	column := len(cells) - 1 - len(r.Runs) // of the first store; nothing follows the last
	for i := len(r.Runs) - 1; i > 0 && column > 1; i-- {
		before, grown := figures.FindAllString(cells[column+i-1],
			-1), 1.2*float64(r.Runs[i].Rows)/float64(r.Runs[i-1].Rows)
		n := -1
		cells[column+i] = figures.ReplaceAllStringFunc(cells[column+i], func(text string) string {
			if n++; n < len(before) && value(before[n]) > 0 && value(text) > grown*value(before[n]) {
				return text + "!"
			}
			return text
		})
	}
	return strings.Join(cells, "|")
}

// value returns the number that a figure shows, or 0.
func value(figure string) float64 {
	f, _ := strconv.ParseFloat(strings.ReplaceAll(figure, ",", ""), 64)
	return f
}

// Write puts the table between the marks of a Markdown document, in place of the previous one. The rest of the
// document stays as it is. A document without the marks is an error, and not changed.
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

// number formats a figure with three digits, and without decimals above a thousand. Examples: 0.01234 becomes
// 0.0123, 12.345 becomes 12.3, 1234.2 becomes 1,234, and 0 a dash: not measured.
func number(f float64) string {
	if f == 0 {
		return "–"
	}
	if f >= 999.5 {
		return humanize.Comma(int64(math.Round(f)))
	}
	return strconv.FormatFloat(f, 'g', 3, 64)
}
