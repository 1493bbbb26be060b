package lists

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"vitrine/cmd/vitrine/programtest"
)

// TestUpgradeHides: without a change to compare, lists diff says which records the next run hides of those that an
// earlier version has published, by the reason.
func TestUpgradeHides(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	dir := programtest.ImportOsiris(t)
	programtest.WriteLines(t, filepath.Join(dir, "activities.jsonl"),
		`{"_id":"one","type":"publication","subtype":"article","title":"Kept","hide":1}`)
	store := []string{"--store", "bolt://v.db"}
	programtest.Setenv(dir, "VITRINE_PRESET", "osiris")
	programtest.Run(t, dir, "import", "--store", "bolt://v.db", "activities.jsonl")
	earlier := programtest.WriteFile(t, t.TempDir(),
		`lists: {portal: false, public: '{"hide": {"$ne": true}, "workflow.status": {"$nin": ["rejected", `+
			`"in-review"]}}'}`)
	programtest.Run(t, dir, append([]string{"materialize", "--config", earlier}, store...)...)

	type difference struct {
		List          string
		Before, After int
		Hidden, Shown struct {
			Count    int
			Fields   map[string]int
			Examples []struct{ ID, Title, Field string }
		}
	}
	var all []difference
	if text := programtest.Run(t, dir, append([]string{"lists", "diff", "--json"}, store...)...); json.Unmarshal(
		[]byte(text),
		&all) != nil {
		t.Fatal(text)
	}
	want := map[string]int{
		`subtype "talk" (adminTypes.portfolio)`: 1, `subtype "flyer" (adminTypes.portfolio)`: 1,
		`subtype "award" (adminTypes.portfolio)`: 1,
		"hide":                                   1,
	}
	d := all[0]
	if d.List != "activities" || d.Before != 8 || d.After != 4 || d.Shown.Count != 0 ||
		!reflect.DeepEqual(d.Hidden.Fields, want) {
		t.Errorf("got %+v", d)
	}
	if len(d.Hidden.Examples) != 4 || d.Hidden.Examples[3].ID == "" {
		t.Errorf("examples %+v", d.Hidden.Examples)
	}
	text := programtest.Run(t, dir, append([]string{"lists", "diff"}, store...)...)
	if line := `hidden: activities: 1 by subtype "talk" (adminTypes.portfolio)`; !strings.Contains(text, line) {
		t.Errorf("no line %s in %s", line, text)
	}

	programtest.Run(t, dir, append([]string{"materialize"}, store...)...)
	if text := programtest.Run(t, dir, append([]string{"lists", "diff", "--json"}, store...)...); json.Unmarshal(
		[]byte(text),
		&all) != nil {
		t.Fatal(text)
	}
	if d := all[0]; d.Before != 4 || d.After != 4 || d.Hidden.Count+d.Shown.Count != 0 {
		t.Errorf("after the run: %+v", d)
	}
	if count := programtest.Run(t, dir, append([]string{"query", "--count", `{"_list.public": true}`},
		store...)...); strings.TrimSpace(count) != "4" {
		t.Errorf("%s public activities", count)
	}
}
