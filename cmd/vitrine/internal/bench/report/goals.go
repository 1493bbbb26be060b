package report

import (
	"fmt"
	"strings"
	"time"
)

// Goal is a bar of the design with the figure that was measured for it.
type Goal struct {
	What   string
	Bar    string
	Rows   int // activities of the run that the figure is from
	Figure string
	Met    bool
}

// Numbers of activities that the bars speak of.
const (
	goalRows = 100_000
	mostRows = 1_000_000
)

// freshGoals are bars for the median of questions never asked before.
var freshGoals = []struct {
	what  string
	most  time.Duration
	cases []string
}{
	{"a filter never seen before: equality, range, `$in`", time.Millisecond, []string{"filter-equality", "filter-range", "filter-in"}},
	{"… case-insensitive regex on title", 15 * time.Millisecond, []string{"filter-infix", "filter-pattern"}},
	{"closest title", 15 * time.Millisecond, []string{"levenshtein"}},
}

// Goals compares a report with the bars for which something was measured. Those that speak
// of 100,000 activities are compared with the run that is nearest.
func Goals(r Report) (all []Goal) {
	m, large := nearest(r.Runs, goalRows), nearest(r.Runs, mostRows)
	if m == nil {
		return nil
	}
	add := func(of *Run, met bool, what, bar, figure string, args ...any) {
		all = append(all, Goal{what, bar, of.Rows, fmt.Sprintf(figure, args...), met})
	}
	if list := m.Result("list"); list != nil && list.Bare != nil {
		add(m, list.Bare.Ratio >= 0.85, "a cached list answer, requests/s, against a bare Fiber handler sending the same bytes", "≥ 0.85",
			"%s ± %s", number(list.Bare.Ratio), number(list.Bare.spread()))
	}
	for _, g := range freshGoals {
		if slowest := m.slowest(g.cases); slowest != nil {
			add(m, slowest.P50 <= g.most, g.what, "p50 ≤ "+short(g.most), "%s at most (%s)", short(slowest.P50), slowest.Name)
		}
	}
	for i := range r.Runs {
		of := &r.Runs[i]
		if least := of.leastFactor(ByIndex); least != nil {
			add(of, least.Other.Factor >= 50, "a question to another server: what its indexes answer", "≥ 50 × faster", "%s × at least (%s)", number(least.Other.Factor), least.Name)
		}
		if least := of.leastFactor(ByScan); least != nil {
			add(of, least.Other.Factor >= 500, "… what it must scan", "≥ 500 × faster", "%s × at least (%s)", number(least.Other.Factor), least.Name)
		}
	}
	if f := m.Refresh; f != nil {
		add(m, f.Visible <= 500*time.Millisecond+f.Scan, fmt.Sprintf("%d changed records under load: from job start to visible", f.Changed), "≤ 500 ms plus the scan",
			"%s; a scan takes %s", short(f.Visible), short(f.Scan))
		add(m, f.Ratio <= 2, fmt.Sprintf("… p99 of %d requests/s meanwhile against steady", f.Rate), "≤ 2 ×", "%s × (%s against %s)", number(f.Ratio), short(f.P99), short(f.SteadyP99))
	}
	if len(m.Starts) > 0 {
		add(m, MedianOf(m.Starts) <= 4*time.Second, "start to ready, embedded", "≤ 4s", "%s", short(MedianOf(m.Starts)))
	}
	if mem := m.Memory; mem != nil {
		add(m, mem.Loaded.Resident <= mem.bar(), "resident memory when ready against the BSON of all views", "≤ 3 × + 100 MB",
			"%s for %s; at most %s", size(mem.Loaded.Resident), size(mem.Rows), size(mem.bar()))
	}
	if large.Rows >= mostRows && large.Memory != nil {
		add(large, large.Memory.After.Peak <= 12e9, "1,000,000 activities: works within 12 GB", "≤ 12 GB", "%s at most, with mapped file pages", size(large.Memory.After.Peak))
	}
	if growth, name := large.growth(m); large.Rows >= mostRows && growth > 0 {
		add(large, growth <= 1, "… times grow no faster than the rows: start, refresh, questions never asked", "≤ 1 × the rows", "%s × at most (%s)", number(growth), name)
	}
	return all
}

// nearest returns the run with the nearest number of activities; nil if there is none.
func nearest(runs []Run, rows int) (best *Run) {
	for i := range runs {
		if m := &runs[i]; best == nil || max(m.Rows-rows, rows-m.Rows) < max(best.Rows-rows, rows-best.Rows) {
			best = m
		}
	}
	return best
}

// slowest returns the one of the cases with the highest median; nil if none was measured.
func (m *Run) slowest(cases []string) (slowest *Result) {
	for _, name := range cases {
		if r := m.Result(name); r != nil && (slowest == nil || r.P50 > slowest.P50) {
			slowest = r
		}
	}
	return slowest
}

// leastFactor returns the case with the lowest factor among the filters that the other
// server answers in this way; nil if there is none. Persons by _id count as well: a server
// may answer no filter by index.
func (m *Run) leastFactor(by string) (least *Result) {
	for i := range m.Results {
		r := &m.Results[i]
		if r.Other == nil || r.Other.Error != "" || r.Other.By != by || !strings.HasPrefix(r.Name, "filter-") && r.Name != "users-id" {
			continue
		}
		if least == nil || r.Other.Factor < least.Other.Factor {
			least = r
		}
	}
	return least
}

// bar is the most memory that the design allows for the views' BSON, in bytes.
func (m *Memory) bar() int64 { return 3*m.Rows + 100e6 }

// growth returns the highest growth of a time against those of a smaller run, as a multiple
// of the growth of the rows, and what takes that time; 0 if no time can be compared.
func (m *Run) growth(small *Run) (worst float64, name string) {
	if m.Rows <= small.Rows {
		return 0, ""
	}
	compare := func(what string, before, after time.Duration) {
		if g := after.Seconds() / before.Seconds() * float64(small.Rows) / float64(m.Rows); before > 0 && g > worst {
			worst, name = g, what
		}
	}
	compare("start to ready", MedianOf(small.Starts), MedianOf(m.Starts))
	if m.Refresh != nil && small.Refresh != nil {
		compare("refresh, visible", small.Refresh.Visible, m.Refresh.Visible)
	}
	for _, r := range m.Results {
		if before := small.Result(r.Name); before != nil && r.Fresh && r.Conns == 1 {
			compare(r.Name, before.P50, r.P50)
		}
	}
	return worst, name
}
