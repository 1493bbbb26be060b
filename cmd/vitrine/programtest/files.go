package programtest

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/configs"
)

// WriteLines makes a file of lines.
func WriteLines(t *testing.T, name string, lines ...string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// NewLines returns a scanner of lines, long enough for every test.
//
// A log line of the program may have a whole filter, which is longer than the 64 KiB of a bufio.Scanner.
func NewLines(r io.Reader) *bufio.Scanner {
	s := bufio.NewScanner(r)
	s.Buffer(nil, 1<<20)
	return s
}

// WriteFile writes a configuration file and returns its name. Only its owner can read it, as the file of an
// operator with keys.
func WriteFile(t *testing.T, dir, content string) string {
	t.Helper()
	name := filepath.Join(dir, "vitrine.yml")
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// WriteDump makes a store with one activity in a folder.
func WriteDump(t *testing.T, dir string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "activities.jsonl"), []byte(`{"_id":"a1","title":"First"}`+"\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	Run(t, dir, "import", "--store", "bolt://v.db", "activities.jsonl")
}

// ImportOsiris fills a new store with the made-up OSIRIS database of testdata. The caller's package lies beside
// testdata, so the path is relative to that package.
func ImportOsiris(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	data, err := filepath.Abs(filepath.Join("..", "testdata", "osiris"))
	if err != nil {
		t.Fatal(err)
	}
	Run(t, dir, "import", "--store", "bolt://v.db", data)
	return dir
}

// WriteDemo writes a dump of the first records of each collection of the demo institute. The whole institute takes
// longer to build than most tests need.
func WriteDemo(t *testing.T, dir string, records int) {
	t.Helper()
	if err := os.Mkdir(filepath.Join(dir, "dump"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, collection := range []string{
		"activities", "persons", "groups", "projects", "proposals", "journals", "conferences", "deadlines",
		"organizations", "catalog_topics",
	} {
		name := collection + ".jsonl"
		WriteLines(t, filepath.Join(dir, "dump", name), DemoLines(t, name, records)...)
	}
}

// DemoLines reads the first lines of a file of the demo.
func DemoLines(t *testing.T, name string, most int) (lines []string) {
	t.Helper()
	f, err := configs.Demo().Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for scan := NewLines(f); len(lines) < most && scan.Scan(); {
		lines = append(lines, scan.Text())
	}
	return lines
}
