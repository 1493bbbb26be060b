package report

import (
	"strings"
	"testing"
	"time"
)

// section returns a section, which must be made.
func section(t *testing.T, name string, r Report) string {
	t.Helper()
	text, err := r.section(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestSizes checks that figures have a dash where they were not measured.
func TestSizes(t *testing.T) {
	r := Report{Runs: []Run{
		{Rows: 10, Fill: time.Second},
		{Rows: 20_000, Refresh: Refresh{Scan: time.Millisecond, Rounds: 2, Ratio: 1.5}},
	}}
	got := section(t, "sizes", r)
	for _, want := range []string{
		"|  | 10 | 20,000 |\n| --- | ---: | ---: |\n| records made and stored | 1s | – |\n",
		"| memory when ready: resident (the process's own) | – (–) | – (–) |\n",
		"| a scan of all activities | – | 1ms |\n",
		"| … p99, meanwhile against steady | – | 1.5 × |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// TestCases checks the columns of cases.
func TestCases(t *testing.T) {
	m := Run{Rows: 7, Results: []Result{
		{Name: "list", Title: "$in", Conns: 16, Bytes: 1234, Rate: 99.5, P50: 1e6, P99: 2e6, First: 3e6, Bare: &Bare{Ratio: 0.5, Low: 0.4, High: 0.5}},
		{Name: "html"},
	}}
	want := `### 7 activities, – of BSON

| case | what is asked | at a time | bytes | requests/s | p50 | p99 | first | bare handler | ± |
| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| list | \$in | 16 | 1,234 | 99.5 | 1ms | 2ms | 3ms | 0.5 | 0.05 |
| html |  | 0 | 0 | 0 | – | – | – | – | – |
`
	if got := section(t, "cases", Report{Runs: []Run{m}}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
