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
	return Report{Commit: "0123456789ab", Machine: "a computer", Began: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), Rounds: 5, Each: time.Second, Runs: []RunOf{
		{Rows: 10, Build: time.Second, Results: map[string]*Result{
			"filter-in": {Rate: 99.5, Bytes: 12345, P50: 1e6, Processor: 25_000, Ratio: 0.5, Spread: 0.05, Share: 0.8}, "filter-expr": {Rate: 1},
		}, Beside: map[string][len(crowds)]Beside{"filter-expr": {{Kept: 1e6, Uncached: 2e6, Rate: 7}, {}}}},
		{Rows: 20_000, Scan: time.Millisecond, Refresh: Refresh{SteadyP99: 2e6, P99: 3e6}, Start: 2e9,
			Ready: Memory{Own: 2e6}, Results: map[string]*Result{"list": {Rate: 50_000}}},
	}}
}

func tableOf(t *testing.T) string {
	t.Helper()
	table, err := twoSizes().Table()
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestTable checks the table, which shows a dash for figures that were not measured.
func TestTable(t *testing.T) {
	got := tableOf(t)
	for _, want := range []string{
		"Measured on 2026-03-04 at 0123456789ab: a computer; medians of 5 rounds of 1s a side.\n",
		"\n\n| case | question | 10 activities | processor | 20,000 activities | processor |\n| --- | --- | ---: | ---: | ---: | ---: |\n",
		"\n\n| beside | 8, 10 activities | 32 | 8, 20,000 activities | 32 |\n| --- | ---: | ---: | ---: | ---: |\n",
		"| filter-expr | 1; 2; 7 | –; –; – | –; –; – | –; –; – |\n",
		"| build of all views (ms) | 1,000 | – |\n",
		"| start to ready (ms) | – | 2,000 |\n",
		"| own memory when ready; in the end (MB) | –; – | 2; – |\n",
		"| scan of all activities (ms) | – | 1 |\n",
		"| p99 of traffic: steady; meanwhile (ms); ratio | –; –; – | 2; 3; 1.5 |\n",
		"| list | first page, cached | – | – | –; 50,000; –; – | –; – |\n",
		"| filter-in | \\$in: five authors | 1; 99.5; 1.23; 0.5±0.05 | 25; 0.8 | – | – |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "levenshtein") || strings.Contains(got, "| filter-scan ") {
		t.Errorf("the table shows a case that was not measured:\n%s", got)
	}
}

func TestWrite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "figures.md")
	for _, doc := range []string{"# Figures\n<!-- bench -->\nold\n<!-- /bench -->\nlast\n", ""} { // the second document gets what the first call wrote
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
