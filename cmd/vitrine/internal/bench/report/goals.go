package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Goal is a bar of the design with the figure that was measured for it.
type Goal struct {
	What   string
	Bar    string
	Rows   int // activities of the run that the figure is from; 0: nothing was measured
	Figure string
	Met    bool
	How    string // the cases and rounds behind the figure, or why there is none
}

// Numbers of activities that the bars speak of.
const (
	goalRows = 100_000
	mostRows = 1_000_000
)

// verdict says whether the bar is met.
func (g Goal) verdict() string {
	switch {
	case g.Rows == 0:
		return "not measured"
	case g.Met:
		return "yes"
	}
	return "**no**"
}

// Goals compares a report with the bars. Those that speak of 100,000 activities are
// compared with the run that is nearest.
func Goals(r Report) []Goal {
	m := nearest(r.Runs, goalRows)
	if m == nil {
		return nil
	}
	other := cmp.Or(largestAgainst(r.Runs), m)
	list := cmp.Or(m.Result("list"), &Result{})
	bare := cmp.Or(list.Bare, &Bare{})
	goals := []Goal{
		m.goal(list.Bare != nil, "a cached list answer, requests/s, against a bare Fiber handler sending the same bytes", "≥ 0.85",
			fmt.Sprintf("%.2f (rounds within ± %.2f)", bare.Ratio, bare.spread()), bare.Ratio >= 0.85, fmt.Sprintf("list, median of %d rounds", list.Took)),
		m.goalFresh("a filter never seen before: equality, range, `$in`", time.Millisecond, "filter-equality", "filter-range", "filter-in"),
		m.goalFresh("… case-insensitive regex on title", 15*time.Millisecond, "filter-infix", "filter-pattern"),
		other.goalFactor("… against another server: what its indexes answer", ByIndex, 50),
		other.goalFactor("… what it must scan", ByScan, 500),
	}
	goals = append(goals, m.goalsOnce()...)
	goals = append(goals, m.goalFresh("closest title", 15*time.Millisecond, "levenshtein"))
	return append(goals, goalsMillion(nearest(r.Runs, mostRows), m)...)
}

// nearest returns the run with the nearest number of activities; nil if there is none.
func nearest(runs []Run, rows int) *Run {
	var best *Run
	for i := range runs {
		if m := &runs[i]; best == nil || max(m.Rows-rows, rows-m.Rows) < max(best.Rows-rows, rows-best.Rows) {
			best = m
		}
	}
	return best
}

// largestAgainst returns the largest run that asked another server; nil if none did.
func largestAgainst(runs []Run) (largest *Run) {
	for i := range runs {
		asked := slices.ContainsFunc(runs[i].Results, func(r Result) bool { return r.asked(Other) != nil })
		if asked && (largest == nil || runs[i].Rows > largest.Rows) {
			largest = &runs[i]
		}
	}
	return largest
}

// goal makes a goal of a figure of the run, unless nothing was measured.
func (m *Run) goal(measured bool, what, bar, figure string, met bool, how string) Goal {
	if !measured {
		return Goal{What: what, Bar: bar, How: "left out"}
	}
	return Goal{what, bar, m.Rows, figure, met, how}
}

// goalFresh is met if the median of each of the cases is low enough.
func (m *Run) goalFresh(what string, most time.Duration, cases ...string) Goal {
	met := true
	var figures []string
	for _, name := range cases {
		if r := m.Result(name); r != nil {
			met = met && r.P50 <= most
			figures = append(figures, short(r.P50))
		}
	}
	return m.goal(len(figures) > 0, what, "p50 ≤ "+short(most), strings.Join(figures, ", "), met, strings.Join(cases, ", "))
}

// goalFactor is met if the other server takes least times as long for every question that
// it answers in this way. Where it answers no filter by index, persons by _id stand in.
func (m *Run) goalFactor(what, by string, least float64) Goal {
	bar := fmt.Sprintf("≥ %.0f × faster", least)
	var factors []float64
	var cases []string
	filters := false
	for _, r := range m.Results {
		asked, isFilter := r.asked(Other), strings.HasPrefix(r.Name, "filter-")
		if asked == nil || asked.Error != "" || asked.By != by || !isFilter && r.Name != "users-id" {
			continue
		}
		factors, cases, filters = append(factors, asked.Factor), append(cases, r.Name), filters || isFilter
	}
	if len(factors) == 0 {
		return Goal{What: what, Bar: bar, How: "no other server was asked what it answers by " + by}
	}
	low, how := slices.Min(factors), strings.Join(cases, ", ")
	figure := rate(low) + " ×"
	if len(factors) > 1 {
		figure += " to " + rate(slices.Max(factors)) + " ×"
	}
	if !filters {
		how += " alone: that server answers no filter by index"
	}
	return m.goal(true, what, bar, figure, low >= least, how)
}

// goalsOnce are about refresh, start and memory.
func (m *Run) goalsOnce() []Goal {
	r, mem := cmp.Or(m.Refresh, &Refresh{}), cmp.Or(m.Memory, &Memory{})
	how := fmt.Sprintf("%d changed, %d requests/s, median of %d rounds", r.Changed, r.Rate, r.Rounds)
	return []Goal{
		m.goal(m.Refresh != nil, "changed records under load: from job start to visible", "≤ 500 ms plus the scan",
			fmt.Sprintf("%s, %s of it scan", short(r.Visible), short(r.Scan)), r.Visible <= 500*time.Millisecond+r.Scan, how),
		m.goal(m.Refresh != nil, "… p99 of traffic meanwhile against steady", "≤ 2 ×",
			fmt.Sprintf("%.2f × (%s against %s)", r.Ratio, short(r.P99), short(r.SteadyP99)), r.Ratio <= 2, how),
		m.goal(len(m.Starts) > 0, "start to ready, embedded", "≤ 4s",
			short(m.Start()), m.Start() <= 4*time.Second, fmt.Sprintf("median of %d starts", len(m.Starts))),
		m.goal(m.Memory != nil, "resident memory against BSON size", "≤ 3 × + 100 MB",
			fmt.Sprintf("%s resident (%s of it the process's own) for %s", size(mem.Loaded.Resident), size(mem.Loaded.Anonymous), size(mem.Rows)),
			mem.Loaded.Resident <= mem.bar(), "when ready; BSON of all views; at most "+size(mem.bar())),
	}
}

// bar is the most memory that the design allows for the views' BSON, in bytes.
func (m *Memory) bar() int64 { return 3*m.Rows + 100e6 }

// goalsMillion are about a million activities: memory, and the growth of times with rows.
func goalsMillion(large, small *Run) []Goal {
	enough, mem := large.Rows >= mostRows, cmp.Or(large.Memory, &Memory{})
	worst, name := 0.0, ""
	factor, after := float64(large.Rows)/float64(small.Rows), large.times()
	for n, took := range small.times() {
		growth := after[n].Seconds() / max(took.Seconds(), 1e-9) / factor
		if growth > worst || growth == worst && n < name {
			worst, name = growth, n
		}
	}
	return []Goal{
		large.goal(enough && large.Memory != nil, "1,000,000 activities: works within 12 GB", "≤ 12 GB",
			fmt.Sprintf("%s anonymous, %s with mapped file pages", size(mem.Most), size(mem.After.Peak)),
			max(mem.Most, large.BuildMost) <= 12e9, "the most at any time, all cases and refreshes included"),
		large.goal(enough && small.Rows < large.Rows && worst > 0, "… times grow no faster than the rows", "≤ 1 × the rows",
			fmt.Sprintf("%.2f × at most (%s)", worst, name), worst <= 1,
			"medians against those with "+grouped(small.Rows)+": start, refresh, every question never seen"),
	}
}

// times are the figures that should grow no faster than the rows.
func (m *Run) times() map[string]time.Duration {
	times := map[string]time.Duration{"start to ready": m.Start()}
	if m.Refresh != nil {
		times["refresh, visible"] = m.Refresh.Visible
	}
	for _, r := range m.Results {
		if r.Fresh && r.Conns == 1 {
			times[r.Name] = r.P50
		}
	}
	return times
}
