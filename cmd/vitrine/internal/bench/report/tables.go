package report

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
)

// Marks in a document: the text between the two lines is replaced.
const (
	markBegin = "<!-- vitrine bench: %s -->\n"
	markEnd   = "<!-- end -->\n"
)

// sections are the parts of a report in Markdown, by the names in a document's marks.
var sections = []struct {
	name string
	text func(Report) string
}{
	{"machine", Report.sentence}, {"cases", Report.caseTables}, {"sizes", Report.sizesTable}, {"notes", Report.notes}, {"goals", Report.goalsTable},
}

// WriteTable prints all sections of a report, the columns of their tables lined up.
func WriteTable(w io.Writer, r Report) error {
	tw := tabwriter.NewWriter(w, 0, 0, 0, ' ', 0)
	for _, s := range sections {
		fmt.Fprintln(tw, strings.ReplaceAll(s.text(r), " | ", "\t | "))
	}
	return tw.Flush()
}

// Fill returns a Markdown document with its marked sections replaced by those of a
// report:
//
//	<!-- vitrine bench: goals -->
//	…
//	<!-- end -->
//
// It is an error if the document has none of them.
func Fill(doc []byte, r Report) ([]byte, error) {
	filled := 0
	for _, s := range sections {
		before, rest, ok := bytes.Cut(doc, fmt.Appendf(nil, markBegin, s.name))
		if !ok {
			continue
		}
		_, after, ok := bytes.Cut(rest, []byte(markEnd))
		if !ok {
			return nil, fmt.Errorf("section %q of the document has no end: %s is missing", s.name, strings.TrimSpace(markEnd))
		}
		doc = slices.Concat(before, fmt.Appendf(nil, markBegin, s.name), []byte("\n"+s.text(r)+"\n"+markEnd), after)
		filled++
	}
	if filled == 0 {
		return nil, errors.New("the document has no section for figures: a line such as " + strings.TrimSpace(fmt.Sprintf(markBegin, "goals")))
	}
	return doc, nil
}

// table returns a table in Markdown; the first columns are text, the others figures.
func table(head []string, texts int, rows [][]string) string {
	rule := slices.Repeat([]string{"---:"}, len(head))
	copy(rule, slices.Repeat([]string{"---"}, texts))
	var b strings.Builder
	for _, row := range append([][]string{head, rule}, rows...) {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
	}
	return b.String()
}

// sentence says where and how the report was measured.
func (r Report) sentence() string {
	m := r.Machine
	return fmt.Sprintf("Measured on %s: %s, %d in use, %s, %s; medians of %d rounds of %s a side.\n",
		r.Began.Format(time.DateOnly), m.Processor, m.Processors, m.System, m.Go, r.Rounds, r.Each)
}

// goalsTable shows the design's bars and the figures beside them.
func (r Report) goalsTable() string {
	var rows [][]string
	for _, g := range Goals(r) {
		activities := dash
		if g.Rows > 0 {
			activities = grouped(g.Rows)
		}
		rows = append(rows, []string{g.What, g.Bar, g.Figure, g.verdict(), activities, g.How})
	}
	head := []string{"what", "bar", "measured", "met", "activities", "by what"}
	return table(head, len(head), rows)
}

// caseTables has a table of cases for each number of activities.
func (r Report) caseTables() string {
	var parts []string
	for _, m := range r.Runs {
		parts = append(parts, fmt.Sprintf("### %s activities, %s of BSON\n\n%s", grouped(m.Rows), size(m.BSON), m.caseTable()))
	}
	return strings.Join(parts, "\n")
}

// storeColumn is a kind of store, and the head of its column.
type storeColumn struct{ kind, head string }

// storeColumns are the kinds of stores that any case of the run asked.
func (m *Run) storeColumns() []storeColumn {
	return slices.DeleteFunc([]storeColumn{
		{Embedded, "embedded store"}, {InPlace, "the store itself"}, {Other, "other server"},
	}, func(c storeColumn) bool {
		return !slices.ContainsFunc(m.Results, func(r Result) bool { return r.asked(c.kind) != nil })
	})
}

// caseTable has a line for each case, with columns for the stores that were asked.
func (m *Run) caseTable() string {
	head := []string{"case", "what is asked", "at a time", "bytes", "requests/s", "p50", "p99", "first", "bare handler", "±"}
	columns := m.storeColumns()
	for _, c := range columns {
		head = append(head, c.head, "×")
	}
	var rows [][]string
	for _, r := range m.Results {
		row := []string{r.Name, strings.ReplaceAll(r.Title, "$", `\$`), grouped(r.Conns), grouped(int(r.Bytes)), rate(r.Rate), short(r.P50), short(r.P99), short(r.First)}
		b := cmp.Or(r.Bare, &Bare{})
		row = append(row, given(r.Bare != nil, "%s", ratio(b.Ratio)), given(r.Bare != nil, "%s", ratio(b.spread())))
		for _, c := range columns {
			row = append(row, r.asked(c.kind).cells()...)
		}
		rows = append(rows, row)
	}
	return table(head, 2, rows)
}

// cells are a store's time, how it found the answer, and the factor.
func (a *Asked) cells() []string {
	switch {
	case a == nil:
		return []string{dash, dash}
	case a.Error != "":
		return []string{"refused", dash}
	}
	return []string{short(a.P50) + " (" + a.By + ")", rate(a.Factor)}
}

// sizesTable has the figures that exist once for each number of activities. Figures
// that no run has are left out.
func (r Report) sizesTable() string {
	head := []string{""}
	var rows [][]string
	for i, m := range r.Runs {
		head = append(head, grouped(m.Rows))
		for n, f := range m.figures() {
			if i == 0 {
				rows = append(rows, []string{f[0]})
			}
			if strings.Trim(f[1], dash+"(), ") == "" {
				f[1] = dash
			}
			rows[n] = append(rows[n], f[1])
		}
	}
	rows = slices.DeleteFunc(rows, func(row []string) bool {
		return !slices.ContainsFunc(row[1:], func(cell string) bool { return cell != dash })
	})
	return table(head, 1, rows)
}

// figures are the names and figures of one run: of every run the same names in the
// same order.
func (m *Run) figures() [][2]string {
	mem, ref := cmp.Or(m.Memory, &Memory{}), cmp.Or(m.Refresh, &Refresh{})
	return [][2]string{
		{"records made and stored", short(m.Fill)},
		{"all views built", short(m.Build)},
		{"most memory while building, the process's own", size(m.BuildMost)},
		{"start to ready, median (of)", given(len(m.Starts) > 0, "%s (%d)", short(m.Start()), len(m.Starts))},
		{"BSON of all views", size(mem.Rows)},
		{"memory when ready: resident (the process's own)", size(mem.Loaded.Resident) + " (" + size(mem.Loaded.Anonymous) + ")"},
		{"… after a collection", size(mem.Settled.Resident) + " (" + size(mem.Settled.Anonymous) + ")"},
		{"… in the end", size(mem.After.Resident) + " (" + size(mem.After.Anonymous) + ")"},
		{"… at most", size(mem.After.Peak) + " (" + size(mem.Most) + ")"},
		{"path indexes in the end", size(mem.Indexes)},
		{"a scan of all activities", short(ref.Scan)},
		{"refresh: job start to published", short(ref.Publish)},
		{"… to visible", short(ref.Visible)},
		{"traffic: p50, p99 steady", short(ref.SteadyP50) + ", " + short(ref.SteadyP99)},
		{"… meanwhile", short(ref.P50) + ", " + short(ref.P99)},
		{"… p99, meanwhile against steady", given(ref.Rounds > 0, "%.2f ×", ref.Ratio)},
	}
}

// notes lists the steps and cases that were left out.
func (r Report) notes() string {
	var b strings.Builder
	for _, m := range r.Runs {
		for _, note := range m.Notes {
			fmt.Fprintf(&b, "- %s activities: %s\n", grouped(m.Rows), note)
		}
	}
	return b.String()
}

// dash stands for a figure that was not measured.
const dash = "–"

// given formats figures if they were measured.
func given(measured bool, format string, figures ...any) string {
	if !measured {
		return dash
	}
	return fmt.Sprintf(format, figures...)
}

// short prints a duration to about three digits.
func short(d time.Duration) string {
	step := time.Microsecond
	switch {
	case d == 0:
		return dash
	case d >= 10*time.Second:
		step = 100 * time.Millisecond
	case d >= time.Second:
		step = 10 * time.Millisecond
	case d >= 100*time.Millisecond:
		step = time.Millisecond
	case d >= time.Millisecond:
		step = 10 * time.Microsecond
	}
	return d.Round(step).String()
}

// rate prints a figure to about three digits.
func rate(f float64) string {
	switch {
	case f >= 1000:
		return grouped(int(f + 0.5))
	case f >= 100:
		return fmt.Sprintf("%.0f", f)
	case f >= 10:
		return fmt.Sprintf("%.1f", f)
	}
	return fmt.Sprintf("%.2f", f)
}

// ratio prints a share of a bare handler's rate.
func ratio(f float64) string {
	if f < 0.1 {
		return fmt.Sprintf("%.3f", f)
	}
	return fmt.Sprintf("%.2f", f)
}

// grouped prints a number with commas between its thousands.
func grouped(n int) string { return humanize.Comma(int64(n)) }

// size prints bytes.
func size(n int64) string {
	switch mb := float64(n) / 1e6; {
	case n == 0:
		return dash
	case mb >= 10_000:
		return fmt.Sprintf("%.1f GB", mb/1000)
	case mb >= 100:
		return fmt.Sprintf("%.0f MB", mb)
	default:
		return fmt.Sprintf("%.1f MB", mb)
	}
}

// number prints a value to at most four decimals.
func number(v float64) string { return humanize.CommafWithDigits(math.Round(v*1e4)/1e4, 4) }
