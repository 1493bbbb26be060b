package operations

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"vitrine/cmd/vitrine/internal/bench"
	"vitrine/cmd/vitrine/programtest"
)

// TestBench measures everything once, briefly, with all three processes. It checks that each step
// has a result, not which.
func TestBench(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	dir := t.TempDir()
	brief := []string{"bench", "--demo", "--size", "900", "--rounds", "1", "--duration", "20ms", "--dir", "stores"}
	out := programtest.Run(t, dir, brief...)
	for _, name := range append(bench.Steps(), "own memory") {
		if row := regexp.MustCompile(`(?m)^\|` + name + `\b.*`).FindString(out); row == "" ||
			strings.Contains(row, "–") {
			t.Errorf("%s: row %q", name, row)
		}
	}
	document := filepath.Join(dir, "figures.md")
	programtest.WriteLines(t, document, "<!-- bench -->", "<!-- /bench -->")
	out = programtest.Run(t, dir, append(brief, "--cases", "list-304", "--json", "--write", document)...)
	if text, err := os.ReadFile(document); err != nil || !strings.Contains(string(text), "|list-304|") ||
		strings.Contains(string(text), "beside|") {
		t.Errorf("bench on an existing store: written %s, %v", text, err)
	}
	var report bench.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil || report.Runs[0].Results["list-304"].Rate == 0 {
		t.Errorf("JSON of a report: %v, %+v", err, report)
	}
}
