package pages

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/cmd/vitrine/programtest"
	"vitrine/configs"
	"vitrine/rules/cite"
	"vitrine/rules/ejson"
)

// cited holds the parts of a record that a parser must find.
type cited struct {
	Key     string        `json:"key"`
	Title   string        `json:"title"`
	Authors []cite.Person `json:"authors"`
	Year    int           `json:"year"`
}

// TestFaces runs the parsers of testdata/faces on the exports of the demo's list of activities.
// They must find each public record once, in the same order in all exports, with its stored title,
// authors and year. Feeds must be well-formed and have the newest items of the list.
func TestFaces(t *testing.T) {
	programs, dir := facePrograms(t), t.TempDir()
	s := programtest.Start(t, t.TempDir(), "--demo").Ready()
	for name, path := range map[string]string{
		"list.bib": "activities.bib", "list.latex.bib": "activities.bib?latex=1", "list.ris": "activities.ris",
		"list.csl.json": "activities.csl.json", "list.jsonld": "activities.jsonld", "list.csv": "activities.csv",
		"list.json": "activities.json?limit=50",
		"list.atom": "activities.atom", "list.rss": "activities.rss", "list.feed.json": "activities.feed.json",
	} {
		status, body := s.Get("/lists/" + path)
		if status != http.StatusOK {
			t.Fatalf("%s: status %d: %s", path, status, body)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	expected, err := json.Marshal(inOrder(t, publicActivities(t), filepath.Join(dir, "list.csl.json")))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "expected.json"), expected, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, call := range []string{"xmllint --noout list.atom list.rss", "node " + programs + "/check.mjs .",
		"node " + programs + "/feeds.mjs . " + s.Base} {
		words := strings.Fields(call)
		cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", call, err, out[max(0, len(out)-3000):])
		}
	}
}

// packagesEnv names the folder in which .ci/run has installed npm packages.
const packagesEnv = "VITRINE_TEST_NPM"

// facePrograms returns the folder with the scripts of testdata/faces and the npm packages that they
// need. It skips the test if there is none.
func facePrograms(t *testing.T) string {
	t.Helper()
	dir := os.Getenv(packagesEnv)
	if dir == "" {
		t.Skip("needs npm packages, which .ci/run faces installs")
	}
	return dir
}

// publicActivities returns the expected citations of the demo's public activities, by key.
func publicActivities(t *testing.T) map[string]cited {
	t.Helper()
	r, err := cite.Load(configs.CiteRules())
	if err != nil {
		t.Fatal(err)
	}
	f, err := configs.Demo().Open("activities.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	public := make(map[string]cited)
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		row, err := ejson.Parse(lines.Bytes(), ejson.Options{})
		if err != nil {
			t.Fatal(err)
		}
		hidden, _ := row.Lookup("hide").BooleanOK()
		status, _ := row.Lookup("workflow", "status").StringValueOK()
		if hidden || status == "rejected" || status == "in-review" {
			continue
		}
		var it cite.Item
		r.Read(row, &it)
		public[it.Key] = cited{it.Key, it.Text, append([]cite.Person{}, it.Authors...), it.Date.Year}
	}
	return public
}

// inOrder returns the expected records in the order of an export, each once.
func inOrder(t *testing.T, public map[string]cited, file string) (expected []cited) {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var found []struct{ ID string }
	if err := json.Unmarshal(src, &found); err != nil {
		t.Fatal(err)
	}
	for _, e := range found {
		want, ok := public[e.ID]
		if !ok {
			t.Fatalf("the export has %s, which is not public, or has it twice", e.ID)
		}
		delete(public, e.ID)
		expected = append(expected, want)
	}
	if len(public) > 0 || len(expected) == 0 {
		t.Fatalf("the export lacks %d public records: %v", len(public), public)
	}
	return expected
}
