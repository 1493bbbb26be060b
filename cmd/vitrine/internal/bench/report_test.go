package bench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// twoSizes is a report with two numbers of activities.
func twoSizes() Report {
	return Report{Commit: "0123456789ab", Machine: "a computer", Began: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC),
		Rounds: 5, Each: time.Second, Runs: []RunOf{
			{Rows: 1000, Build: time.Second, BuildProcessor: 2e9, Results: map[string]*Result{
				"list":      {P50: 1e6, P99: 1e7, Ratio: 0.5, Spread: 0.05, Share: 0.8},
				"filter-in": {P50: 1e6, P99: 1e6, Processor: 25_000}, "filter-expr": {},
			}, Beside: map[string][len(crowds)]Beside{"filter-expr": {{Kept: 1e6, Uncached: 2e6}, {}}}},
			{Rows: 20_000, Refresh: Refresh{SteadyP99: 2e6, P99: 3e6},
				Start: Start{Ready: 2e9, Peak: 3e6, Memory: Memory{Rows: 1e6, Own: 2e6}}, Build: 25e9,
				End:     Memory{Rows: 100e6, Own: 150e6},
				Results: map[string]*Result{"list": {P50: 24e6, P99: 241e6, Ratio: 50, Spread: 9, Share: 90}}},
		}}
}

func tableOf(t *testing.T, r Report) string {
	t.Helper()
	table, err := r.Table()
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestTable checks the table, which shows a dash for figures that were not measured, and marks those that grow faster
// than the number of activities.
func TestTable(t *testing.T) {
	got := tableOf(t, twoSizes())
	for _, want := range []string{
		"Measured on 2026-03-04 at 0123456789ab: a computer; medians of 5 rounds of 1s a side.",
		"\n\n|case|question|1,000|20,000|\n|---|---|---|---|\n|list|",
		"|list|first page, cached|1/10; 0.5±0.05; 0.8|24/241!; 50±9; 90|\n",
		"|filter-in|\\$in: five authors|1/1; 0.025; ×80|–|\n",
		"\n\n|beside|1,000|20,000|\n|---|---|---|\n|filter-expr|1/2; –/–|–/–; –/–|\n",
		"|build of all views; processor time|1,000; 2,000|25,000!; –|\n",
		"|start from the store: ready; processor time; slowest of ten first answers|–; –; –|2,000; –; –|\n",
		"|own memory: most while starting; then (MB); ratio|–; –; ×–|3; 2; ×1.5|\n",
		"|… in the end (MB); less 100 MB ÷ BSON|–; ×–|150; ×0.5|\n",
		"|p99 of traffic at rest; meanwhile ÷ at rest; if all are rendered|–; ×–; ×–|2; ×1.5; ×–|\n",
		"explains (!): 2.\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "levenshtein") || strings.Contains(got, "|filter-scan|") {
		t.Errorf("the table shows a case that was not measured:\n%s", got)
	}
}

// TestTableWithoutCrowds: if nothing was measured beside others, the report has no table of it.
func TestTableWithoutCrowds(t *testing.T) {
	r := twoSizes()
	r.Runs = r.Runs[1:]
	if got := tableOf(t, r); strings.Contains(got, "beside") {
		t.Errorf("the report is\n%s", got)
	}
}

func TestWrite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "figures.md")
	for _, doc := range []string{"# Figures\n<!-- bench -->\nold\n<!-- /bench -->\nlast\n", ""} {
		// the second document gets what the first call wrote
		if doc != "" {
			if err := os.WriteFile(file, []byte(doc), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := Write(file, "a table\n"); err != nil {
			t.Fatal(err)
		}
		want := "# Figures\n<!-- bench -->\n\na table\n\n<!-- /bench -->\nlast\n"
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("got %s, %v; want %s", got, err, want)
		}
	}
	for _, broken := range []string{"", "<!-- bench -->\n", "<!-- /bench -->\n"} {
		if err := os.WriteFile(file, []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Write(file, "a table\n"); err == nil {
			t.Errorf("a document %q: no error", broken)
		}
	}
	if err := Write(file+".none", ""); err == nil {
		t.Error("a document that is not there: no error")
	}
}

func TestFigures(t *testing.T) {
	tests := []struct{ got, want string }{
		{number(0.0126), "0.0126"},
		{number(0.12345), "0.123"},
		{number(12.34), "12.3"},
		{number(999.4), "999"},
		{number(999.7), "1,000"},
		{number(0), "–"},
		{number(12345.6), "12,346"},
		{number(0.1 + 0.2), "0.3"},
		{number(1_234_567), "1,234,567"},
	}
	for i, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("figure %d: got %s, want %s", i, tt.got, tt.want)
		}
	}
}

func TestMedian(t *testing.T) {
	tests := []struct {
		name    string
		figures []float64
		want    float64
	}{
		{"of none", nil, 0},
		{"of one", []float64{7}, 7},
		{"of three", []float64{9, 1, 2}, 2},
		{"of four", []float64{4, 1, 2, 9}, 3},
	}
	for _, tt := range tests {
		if got := median(tt.figures, func(f float64) float64 { return f }); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
		if got := median(tt.figures, func(f float64) float64 { return -f }); got != -tt.want {
			t.Errorf("%s, negated: got %v, want %v", tt.name, got, -tt.want)
		}
	}
}
