package bench

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Goal is a bar that the design sets, and what was measured beside it.
type Goal struct {
	What   string
	Bar    string
	Rows   int // activities it was measured with; 0: it was not
	Figure string
	Met    bool
	How    string // what measured it, or why nothing did
}

// Numbers of activities that the bars speak of.
const (
	goalRows = 100_000
	mostRows = 1_000_000
)

// Goals holds a report against the bars. Those that speak of 100,000 activities are
// taken from the run that is nearest.
func Goals(r Report) []Goal {
	m := nearest(r.Runs, goalRows)
	if m == nil {
		return nil
	}
	other := m
	if against := withAgainst(r.Runs); against != nil {
		other = against
	}
	return slices.Concat(
		[]Goal{
			m.goalRatio(),
			m.goalFresh("a filter never seen before: equality, range, `$in`", time.Millisecond, "filter-equality", "filter-range", "filter-in"),
			m.goalFresh("… case-insensitive regex on title", 15*time.Millisecond, "filter-infix", "filter-pattern"),
			other.goalFactor("… against another server: what its indexes answer", byIndex, 50),
			other.goalFactor("… what it must scan", byScan, 500),
		},
		m.goalsRefresh(), m.goalsStart(),
		[]Goal{m.goalFresh("closest title", 15*time.Millisecond, "levenshtein")},
		goalsMillion(r.Runs),
	)
}

// nearest is the run whose number of activities is nearest; nil if there is none.
func nearest(runs []Measurement, rows int) *Measurement {
	if len(runs) == 0 {
		return nil
	}
	away := func(m Measurement) int { return max(m.Rows-rows, rows-m.Rows) }
	best := slices.MinFunc(runs, func(a, b Measurement) int { return away(a) - away(b) })
	return &runs[slices.IndexFunc(runs, func(m Measurement) bool { return m.Rows == best.Rows })]
}

// withAgainst is the largest run that asked another server; nil if none did.
func withAgainst(runs []Measurement) (largest *Measurement) {
	for i := range runs {
		asked := slices.ContainsFunc(runs[i].Results, func(r Result) bool { return r.asked("against") != nil })
		if asked && (largest == nil || runs[i].Rows > largest.Rows) {
			largest = &runs[i]
		}
	}
	return largest
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

// missing is a goal that nothing measured.
func missing(what, bar, why string) Goal { return Goal{What: what, Bar: bar, How: why} }

func (m *Measurement) goalRatio() Goal {
	const what, bar = "a cached list answer, requests/s, against a bare Fiber handler sending the same bytes", "≥ 0.85"
	r := m.result("list")
	if r == nil || r.Bare == nil {
		return missing(what, bar, "case list was left out")
	}
	return Goal{
		What: what, Bar: bar, Rows: m.Rows, Met: r.Bare.Ratio >= 0.85,
		Figure: fmt.Sprintf("%.2f (rounds within ± %.2f)", r.Bare.Ratio, r.Bare.spread()),
		How:    fmt.Sprintf("list, median of %d rounds", r.Took),
	}
}

// goalFresh is met if the median of every one of some cases is low enough.
func (m *Measurement) goalFresh(what string, most time.Duration, cases ...string) Goal {
	g := Goal{What: what, Bar: "p50 ≤ " + short(most), Met: true}
	var figures []string
	for _, name := range cases {
		r := m.result(name)
		if r == nil {
			continue
		}
		g.Rows, g.Met = m.Rows, g.Met && r.P50 <= most
		figures = append(figures, short(r.P50))
	}
	if g.Rows == 0 {
		return missing(what, g.Bar, "the cases were left out")
	}
	g.Figure, g.How = strings.Join(figures, ", "), strings.Join(cases, ", ")
	return g
}

// goalFactor is met if the other server takes so many times as long for every
// question that it finds the answer to in that way. Where filters are answered by
// scan alone, persons by _id stand in for what an index answers.
func (m *Measurement) goalFactor(what, by string, least float64) Goal {
	bar := fmt.Sprintf("≥ %.0f × faster", least)
	var factors []float64
	var cases []string
	for i := range m.Results {
		r := &m.Results[i]
		asked := r.asked("against")
		if asked == nil || asked.Error != "" || asked.By != by || !strings.HasPrefix(r.Name, "filter-") && r.Name != "users-id" {
			continue
		}
		factors, cases = append(factors, asked.Factor), append(cases, r.Name)
	}
	if len(factors) == 0 {
		return missing(what, bar, "no other server was asked what it answers by "+by)
	}
	low, high := slices.Min(factors), slices.Max(factors)
	g := Goal{What: what, Bar: bar, Rows: m.Rows, Met: low >= least, Figure: rate(low) + " × to " + rate(high) + " ×", How: strings.Join(cases, ", ")}
	if len(factors) == 1 {
		g.Figure = rate(low) + " ×"
	}
	if !slices.ContainsFunc(cases, func(name string) bool { return strings.HasPrefix(name, "filter-") }) {
		g.How += " alone: that server answers no filter by index"
	}
	return g
}

func (m *Measurement) goalsRefresh() []Goal {
	visible := missing("changed records under load: from job start to visible", "≤ 500 ms plus the scan", "refresh was left out")
	calm := missing("… p99 of traffic meanwhile against steady", "≤ 2 ×", "refresh was left out")
	if r := m.Refresh; r != nil {
		how := fmt.Sprintf("%d changed, %d requests/s, median of %d rounds", r.Changed, r.Rate, r.Rounds)
		visible = Goal{visible.What, visible.Bar, m.Rows, fmt.Sprintf("%s, %s of it scan", short(r.Visible), short(r.Scan)), r.Visible <= 500*time.Millisecond+r.Scan, how}
		calm = Goal{calm.What, calm.Bar, m.Rows, fmt.Sprintf("%.2f × (%s against %s)", r.Ratio, short(r.P99), short(r.SteadyP99)), r.Ratio <= 2, how}
	}
	return []Goal{visible, calm}
}

func (m *Measurement) goalsStart() []Goal {
	start := missing("start to ready, embedded", "≤ 4s", "start was left out")
	memory := missing("resident memory against BSON size", "≤ 3 × + 100 MB", "memory was left out")
	if len(m.Starts) > 0 {
		start = Goal{start.What, start.Bar, m.Rows, short(m.Start()), m.Start() <= 4*time.Second, fmt.Sprintf("median of %d starts", len(m.Starts))}
	}
	if mem := m.Memory; mem != nil {
		most := 3*mem.Rows + 100e6
		memory = Goal{memory.What, memory.Bar, m.Rows,
			fmt.Sprintf("%s resident (%s of it the process's own) for %s", size(mem.Loaded.Resident), size(mem.Loaded.Anonymous), size(mem.Rows)),
			mem.Loaded.Resident <= most, "when ready; BSON of all views; at most " + size(most)}
	}
	return []Goal{start, memory}
}

// goalsMillion are about size.
func goalsMillion(runs []Measurement) []Goal {
	works := missing("1,000,000 activities: works within 12 GB", "≤ 12 GB", "not measured with so many")
	grows := missing("… times grow no faster than the rows", "≤ 1 × the rows", "not measured with so many")
	large := nearest(runs, mostRows)
	if large.Rows < mostRows {
		return []Goal{works, grows}
	}
	if mem := large.Memory; mem != nil {
		works = Goal{works.What, works.Bar, large.Rows, fmt.Sprintf("%s anonymous, %s with mapped file pages", size(mem.Most), size(mem.After.Peak)),
			max(mem.Most, large.BuildMost) <= 12e9, "the most at any time, all cases and refreshes included"}
	}
	small := nearest(runs, goalRows)
	if small.Rows == large.Rows {
		return []Goal{works, grows}
	}
	factor := float64(large.Rows) / float64(small.Rows)
	before, after := small.times(), large.times()
	worst, name := 0.0, ""
	for n, took := range before {
		if later, ok := after[n]; ok && took > 0 {
			if growth := later.Seconds() / took.Seconds() / factor; growth > worst || growth == worst && n < name {
				worst, name = growth, n
			}
		}
	}
	if name != "" {
		grows = Goal{grows.What, grows.Bar, large.Rows, fmt.Sprintf("%.2f × at most (%s)", worst, name), worst <= 1,
			"medians against those with " + grouped(small.Rows) + ": start, refresh, every question never seen"}
	}
	return []Goal{works, grows}
}
