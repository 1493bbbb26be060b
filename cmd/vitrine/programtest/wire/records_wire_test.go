package wire

import (
	"path/filepath"
	"strings"
	"testing"

	"vitrine/cache/origin/mongo/mongotest"
	"vitrine/cmd/vitrine/programtest"
)

// TestRecordsOverTheWire: check --records reports on a MongoDB-compatible server as on the embedded store.
func TestRecordsOverTheWire(t *testing.T) {
	t.Parallel()
	uri := mongotest.Start(t) + "institute?timeoutMS=300000"
	dir := t.TempDir()
	programtest.WriteLines(t, filepath.Join(dir, "publications.jsonl"), `{"title":"Owls"}`)
	programtest.WriteLines(t, filepath.Join(dir, "persons.jsonl"), `{"username":"amoe","first":"Anna","last":"Moe"}`)
	programtest.WriteLines(t, filepath.Join(dir, "projects.jsonl"), `{"name":"OWLS","title":"Owls","year":2021}`)
	var reports []string
	for _, store := range []string{"bolt://v.db", uri} {
		programtest.Run(t, dir, "import", "--store", store, "publications.jsonl", "persons.jsonl", "projects.jsonl")
		stdout, stderr, err := programtest.Outcome(dir, "check", "--records", "--store", store)
		if err == nil || !strings.Contains(stderr, "repair") {
			t.Errorf("%s: %v, %s", store, err, stderr)
		}
		reports = append(reports, stdout)
	}
	if reports[0] != reports[1] || !strings.Contains(reports[0], "found publications, which nothing reads; ") ||
		!strings.Contains(reports[0], "projects: not public: all of 1 records, 1 without public: true") {
		t.Errorf("the embedded store:\n%s\nover the wire:\n%s", reports[0], reports[1])
	}
}
