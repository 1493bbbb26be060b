package report

import (
	"strings"
	"testing"
	"time"
)

// TestGoalVerdicts checks each bar just met, just missed, and not measured.
func TestGoalVerdicts(t *testing.T) {
	against := func(name, by string, factor float64) Result {
		return Result{Name: name, Other: &Asked{By: by, Factor: factor}}
	}
	const yes, no, none = "yes", "no", "not measured"
	tests := []struct {
		name   string
		run    Run
		goal   string // part of Goal.What
		want   string
		figure string // part of Goal.Figure
	}{
		{"ratio met", Run{Results: []Result{{Name: "list", Bare: &Bare{Ratio: 0.85, Low: 0.8, High: 0.9}}}}, "cached list", yes, "0.85 ± 0.05"},
		{"ratio missed", Run{Results: []Result{{Name: "list", Bare: &Bare{Ratio: 0.84}}}}, "cached list", no, "0.84"},
		{"no bare handler", Run{Results: []Result{{Name: "list"}}}, "cached list", none, ""},
		{"filter met", Run{Results: []Result{{Name: "filter-in", P50: time.Millisecond}}}, "equality, range", yes, "1ms"},
		{"one filter missed", Run{Results: []Result{{Name: "filter-in", P50: 1}, {Name: "filter-range", P50: time.Second}}}, "equality, range", no, "1s at most (filter-range)"},
		{"regex met", Run{Results: []Result{{Name: "filter-infix", P50: 15 * time.Millisecond}}}, "regex", yes, "15ms"},
		{"title missed", Run{Results: []Result{{Name: "levenshtein", P50: 16 * time.Millisecond}}}, "closest title", no, "16ms"},
		{"indexes met", Run{Results: []Result{against("filter-or", ByIndex, 70), against("filter-in", ByIndex, 50)}}, "its indexes", yes, "50 × at least (filter-in)"},
		{"indexes missed", Run{Results: []Result{against("filter-in", ByIndex, 49)}}, "its indexes", no, "49 ×"},
		{"a person by _id stands in", Run{Results: []Result{against("users-id", ByIndex, 60)}}, "its indexes", yes, "60 ×"},
		{"scans met", Run{Results: []Result{against("filter-not", ByScan, 500)}}, "must scan", yes, "500 ×"},
		{"scans of no filter", Run{Results: []Result{against("list", ByScan, 1)}}, "must scan", none, ""},
		{"a refused filter", Run{Results: []Result{{Name: "filter-or", Other: &Asked{By: ByScan, Error: "no"}}}}, "must scan", none, ""},
		{"visible in time", Run{Refresh: &Refresh{Visible: 600 * time.Millisecond, Scan: 100 * time.Millisecond}}, "to visible", yes, "600ms; a scan takes 100ms"},
		{"visible too late", Run{Refresh: &Refresh{Visible: 601 * time.Millisecond, Scan: 100 * time.Millisecond}}, "to visible", no, "601ms"},
		{"traffic met", Run{Refresh: &Refresh{Ratio: 2}}, "p99 of", yes, "2 ×"},
		{"traffic missed", Run{Refresh: &Refresh{Ratio: 2.01}}, "p99 of", no, "2.01 ×"},
		{"start met", Run{Starts: []time.Duration{5 * time.Second, time.Second, 4 * time.Second}}, "start to ready", yes, "4s"},
		{"start missed", Run{Starts: []time.Duration{5 * time.Second}}, "start to ready", no, "5s"},
		{"memory met", Run{Memory: &Memory{Rows: 1e6, Loaded: Held{Resident: 103e6}}}, "resident memory", yes, "103 MB for 1 MB"},
		{"memory missed", Run{Memory: &Memory{Rows: 1e6, Loaded: Held{Resident: 104e6}}}, "resident memory", no, "104 MB"},
		{"a million met", Run{Rows: 1e6, Memory: &Memory{After: Held{Peak: 12e9}}}, "within 12 GB", yes, "12,000 MB"},
		{"a million missed", Run{Rows: 1e6, Memory: &Memory{After: Held{Peak: 13e9}}}, "within 12 GB", no, "13,000 MB"},
		{"fewer than a million", Run{Rows: 1e6 - 1, Memory: &Memory{}}, "within 12 GB", none, ""},
		{"one size alone", Run{Rows: 1e6}, "no faster than the rows", none, ""},
	}
	for _, tt := range tests {
		if tt.run.Rows == 0 {
			tt.run.Rows = 100_000
		}
		verdict, figure := none, ""
		for _, g := range Goals(Report{Runs: []Run{tt.run}}) {
			if strings.Contains(g.What, tt.goal) {
				verdict, figure = map[bool]string{true: yes, false: no}[g.Met], g.Figure
			}
		}
		if verdict != tt.want || !strings.Contains(figure, tt.figure) {
			t.Errorf("%s: got %s, %s; want %s, %s", tt.name, verdict, figure, tt.want, tt.figure)
		}
	}
	if goals := Goals(Report{}); goals != nil {
		t.Errorf("a report without runs has goals %+v", goals)
	}
}

// TestGrowth compares times of a million activities with those of the nearest run to
// 100,000.
func TestGrowth(t *testing.T) {
	small := Run{Rows: 100_000, Starts: []time.Duration{time.Second}, Refresh: &Refresh{Visible: time.Second},
		Results: []Result{{Name: "filter-in", Fresh: true, Conns: 1, P50: time.Millisecond}, {Name: "list", P50: 1}, {Name: "filter-mixed", Fresh: true, Conns: 16, P50: 1}}}
	tests := []struct {
		name                   string
		start, visible, filter time.Duration
		met                    bool
		figure                 string
	}{
		{"as the rows", 10 * time.Second, 10 * time.Second, 10 * time.Millisecond, true, "1 ×"},
		{"start grows faster", 11 * time.Second, 0, 0, false, "1.1 × at most (start to ready)"},
		{"refresh grows faster", 0, 12 * time.Second, 0, false, "1.2 × at most (refresh, visible)"},
		{"a question grows faster", 0, 0, 13 * time.Millisecond, false, "1.3 × at most (filter-in)"},
	}
	for _, tt := range tests {
		large := Run{Rows: 1_000_000, Starts: []time.Duration{tt.start}, Refresh: &Refresh{Visible: tt.visible},
			Results: []Result{{Name: "filter-in", Fresh: true, Conns: 1, P50: tt.filter}, {Name: "list", P50: time.Hour}, {Name: "filter-mixed", P50: time.Hour}}}
		goals := Goals(Report{Runs: []Run{{Rows: 10}, small, large}})
		g := goals[len(goals)-1]
		if g.Met != tt.met || !strings.Contains(g.Figure, tt.figure) || g.Rows != 1_000_000 {
			t.Errorf("%s: got %+v, want met %t, %s", tt.name, g, tt.met, tt.figure)
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
| … p99, meanwhile against steady | – | 1.5 × |
`
	if got := r.sizesTable(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestCaseTable checks that the other server has its columns if it was asked.
func TestCaseTable(t *testing.T) {
	m := Run{Results: []Result{
		{Name: "list", Title: "$in", Conns: 16, Bytes: 1234, Rate: 99.5, P50: 1e6, P99: 2e6, First: 3e6, Bare: &Bare{Ratio: 0.5, Low: 0.4, High: 0.5}},
		{Name: "html"},
	}}
	want := `| case | what is asked | at a time | bytes | requests/s | p50 | p99 | first | bare handler | ± |
| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| list | \$in | 16 | 1,234 | 99.5 | 1ms | 2ms | 3ms | 0.5 | 0.05 |
| html |  | 0 | 0 | 0 | – | – | – | – | – |
`
	if got := m.caseTable(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	m.Against = "elsewhere"
	m.Results = append(m.Results, Result{Name: "filter-or"})
	m.Results[0].Other, m.Results[1].Other = &Asked{P50: 2e6, Factor: 2, By: ByScan}, &Asked{Error: "no such operator"}
	for _, line := range []string{"| 0.05 | 2ms (scan) | 2 |\n", "| – | refused | – |\n", "| – | – | – |\n", "| ± | other server | × |\n"} {
		if got := m.caseTable(); !strings.Contains(got, line) {
			t.Errorf("no %q in\n%s", line, got)
		}
	}
}
