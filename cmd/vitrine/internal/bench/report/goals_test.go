package report

import (
	"strings"
	"testing"
	"time"
)

// TestGoalVerdicts checks each bar just met, just missed, and not measured.
func TestGoalVerdicts(t *testing.T) {
	against := func(name, by string, factor float64) Result {
		return Result{Name: name, Stores: []Asked{{Store: Other, By: by, Factor: factor}}}
	}
	tests := []struct {
		name   string
		run    Run
		goal   string // part of Goal.What
		want   string // verdict
		figure string // part of Goal.Figure
	}{
		{"ratio met", Run{Results: []Result{{Name: "list", Bare: &Bare{Ratio: 0.85, Low: 0.8, High: 0.9}}}}, "cached list", "yes", "0.85 (rounds within ± 0.05)"},
		{"ratio missed", Run{Results: []Result{{Name: "list", Bare: &Bare{Ratio: 0.84}}}}, "cached list", "**no**", "0.84"},
		{"no bare handler", Run{Results: []Result{{Name: "list"}}}, "cached list", "not measured", ""},
		{"filter met", Run{Results: []Result{{Name: "filter-in", P50: time.Millisecond}}}, "equality, range", "yes", "1ms"},
		{"one filter missed", Run{Results: []Result{{Name: "filter-in", P50: 1}, {Name: "filter-range", P50: time.Second}}}, "equality, range", "**no**", "1s, 0s"},
		{"regex met", Run{Results: []Result{{Name: "filter-infix", P50: 15 * time.Millisecond}}}, "regex", "yes", "15ms"},
		{"title missed", Run{Results: []Result{{Name: "levenshtein", P50: 16 * time.Millisecond}}}, "closest title", "**no**", "16ms"},
		{"indexes met", Run{Results: []Result{against("filter-in", ByIndex, 50), against("filter-or", ByIndex, 70)}}, "its indexes", "yes", "50.0 × to 70.0 ×"},
		{"indexes missed", Run{Results: []Result{against("filter-in", ByIndex, 49)}}, "its indexes", "**no**", "49.0 ×"},
		{"a person by _id stands in", Run{Results: []Result{against("users-id", ByIndex, 60)}}, "its indexes", "yes", "60.0 ×"},
		{"scans met", Run{Results: []Result{against("filter-not", ByScan, 500)}}, "must scan", "yes", "500 ×"},
		{"scans of no filter", Run{Results: []Result{against("list", ByScan, 1)}}, "must scan", "not measured", ""},
		{"a refused filter", Run{Results: []Result{{Name: "filter-or", Stores: []Asked{{Store: Other, By: ByScan, Error: "no"}}}}}, "must scan", "not measured", ""},
		{"visible in time", Run{Refresh: &Refresh{Visible: 600 * time.Millisecond, Scan: 100 * time.Millisecond}}, "to visible", "yes", "600ms, 100ms of it scan"},
		{"visible too late", Run{Refresh: &Refresh{Visible: 601 * time.Millisecond, Scan: 100 * time.Millisecond}}, "to visible", "**no**", "601ms"},
		{"traffic met", Run{Refresh: &Refresh{Ratio: 2}}, "p99 of traffic", "yes", "2.00 ×"},
		{"traffic missed", Run{Refresh: &Refresh{Ratio: 2.01}}, "p99 of traffic", "**no**", "2.01 ×"},
		{"start met", Run{Starts: []Start{{5 * time.Second}, {time.Second}, {4 * time.Second}}}, "start to ready", "yes", "4s"},
		{"start missed", Run{Starts: []Start{{5 * time.Second}}}, "start to ready", "**no**", "5s"},
		{"memory met", Run{Memory: &Memory{Rows: 1e6, Loaded: Held{Resident: 103e6}}}, "resident memory", "yes", "103 MB resident"},
		{"memory missed", Run{Memory: &Memory{Rows: 1e6, Loaded: Held{Resident: 104e6}}}, "resident memory", "**no**", "104 MB"},
		{"a million met", Run{Rows: 1e6, Memory: &Memory{Most: 12e9}}, "within 12 GB", "yes", "12.0 GB"},
		{"a million, built with more", Run{Rows: 1e6, BuildMost: 13e9, Memory: &Memory{Most: 1}}, "within 12 GB", "**no**", "anonymous"},
		{"fewer than a million", Run{Rows: 1e6 - 1, Memory: &Memory{Most: 1}}, "within 12 GB", "not measured", ""},
		{"one size alone", Run{Rows: 1e6}, "no faster than the rows", "not measured", ""},
	}
	for _, tt := range tests {
		if tt.run.Rows == 0 {
			tt.run.Rows = 100_000
		}
		goals := Goals(Report{Runs: []Run{tt.run}})
		g := find(goals, func(g *Goal) bool { return strings.Contains(g.What, tt.goal) })
		if g == nil || g.verdict() != tt.want || !strings.Contains(g.Figure, tt.figure) {
			t.Errorf("%s: got %+v, want %s", tt.name, g, tt.want)
		}
	}
	if goals := Goals(Report{}); goals != nil {
		t.Errorf("a report without runs has goals %+v", goals)
	}
}

// TestGrowth compares times of a million activities with those of the nearest run to
// 100,000.
func TestGrowth(t *testing.T) {
	small := Run{Rows: 100_000, Starts: []Start{{time.Second}}, Refresh: &Refresh{Visible: time.Second},
		Results: []Result{{Name: "filter-in", Fresh: true, Conns: 1, P50: time.Millisecond}, {Name: "list", P50: 1}, {Name: "filter-mixed", Fresh: true, Conns: 16, P50: 1}}}
	tests := []struct {
		name                   string
		start, visible, filter time.Duration
		want, figure           string
	}{
		{"as the rows", 10 * time.Second, 10 * time.Second, 10 * time.Millisecond, "yes", "1.00 ×"},
		{"start grows faster", 11 * time.Second, 0, 0, "**no**", "1.10 × at most (start to ready)"},
		{"refresh grows faster", 0, 12 * time.Second, 0, "**no**", "1.20 × at most (refresh, visible)"},
		{"a question grows faster", 0, 0, 13 * time.Millisecond, "**no**", "1.30 × at most (filter-in)"},
	}
	for _, tt := range tests {
		large := Run{Rows: 1_000_000, Starts: []Start{{tt.start}}, Refresh: &Refresh{Visible: tt.visible},
			Results: []Result{{Name: "filter-in", Fresh: true, Conns: 1, P50: tt.filter}, {Name: "list", P50: time.Hour}, {Name: "filter-mixed", P50: time.Hour}}}
		goals := Goals(Report{Runs: []Run{{Rows: 10}, small, large}})
		g := goals[len(goals)-1]
		if g.verdict() != tt.want || !strings.Contains(g.Figure, tt.figure) || g.Rows != 1_000_000 {
			t.Errorf("%s: got %+v, want %s", tt.name, g, tt.want)
		}
	}
}

func TestNearest(t *testing.T) {
	runs := []Run{{Rows: 10}, {Rows: 90}, {Rows: 120}}
	for rows, want := range map[int]int{0: 10, 49: 10, 51: 90, 104: 90, 106: 120, 1000: 120} {
		if got := nearest(runs, rows); got.Rows != want {
			t.Errorf("nearest to %d is %d, want %d", rows, got.Rows, want)
		}
	}
	if nearest(nil, 5) != nil {
		t.Error("of no runs one is nearest")
	}
}

// TestSizesTable checks that a figure which no run has has no line, and that the others
// have a dash where they were not measured.
func TestSizesTable(t *testing.T) {
	r := Report{Runs: []Run{
		{Rows: 10, Fill: time.Second},
		{Rows: 20_000, Refresh: &Refresh{Scan: time.Millisecond, Rounds: 2, Ratio: 1.5}},
	}}
	want := `|  | 10 | 20,000 |
| --- | ---: | ---: |
| records made and stored | 1s | – |
| a scan of all activities | – | 1ms |
| … p99, meanwhile against steady | – | 1.50 × |
`
	if got := r.sizesTable(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestCaseTable checks that each kind of store that was asked has its columns.
func TestCaseTable(t *testing.T) {
	m := Run{Results: []Result{
		{Name: "list", Title: "$in", Conns: 16, Bytes: 1234, Rate: 99.5, P50: 1e6, P99: 2e6, First: 3e6, Bare: &Bare{Ratio: 0.5, Low: 0.4, High: 0.5},
			Stores: []Asked{{Store: Embedded, P50: 2e6, Factor: 2, By: ByScan}}},
		{Name: "html", Stores: []Asked{{Store: Other, Error: "no such operator"}}},
	}}
	want := `| case | what is asked | at a time | bytes | requests/s | p50 | p99 | first | bare handler | ± | embedded store | × | other server | × |
| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| list | \$in | 16 | 1,234 | 99.5 | 1ms | 2ms | 3ms | 0.50 | 0.050 | 2ms (scan) | 2.00 | – | – |
| html |  | 0 | 0 | 0.00 | – | – | – | – | – | – | – | refused | – |
`
	if got := m.caseTable(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
