package stores

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"vitrine/cmd/vitrine/programtest"
)

// TestEmbeddedStoreUnusable: if the program cannot open the store, it does not start, its error
// names the store, and it leaves the store unchanged.
func TestEmbeddedStoreUnusable(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]func(path string) error{
		"something else": func(path string) error {
			return os.WriteFile(path, []byte(strings.Repeat("no store ", 2000)), 0o600)
		},
		"cut off":  func(path string) error { return os.WriteFile(path, []byte{0, 1, 2}, 0o600) },
		"a folder": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := put(filepath.Join(dir, "v.db")); err != nil {
				t.Fatal(err)
			}
			before, _ := os.ReadFile(filepath.Join(dir, "v.db"))
			out, err := programtest.Command(dir, "serve", "--store", "bolt://v.db", "--listen", "127.0.0.1:0",
				"--admin-listen",
				"").CombinedOutput()
			if err == nil || !strings.Contains(string(out), "v.db: ") || strings.Contains(string(out), "panic") {
				t.Errorf("serve: %v\n%s", err, out)
			}
			if after, _ := os.ReadFile(filepath.Join(dir, "v.db")); string(after) != string(before) {
				t.Error("the file was changed")
			}
		})
	}
}

// TestDiskFull: the program abandons a publication that finds the disk full, reports it and tries
// again; meanwhile it serves the previous rows. When there is space again, the publication
// succeeds.
func TestDiskFull(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	dir := t.TempDir()
	programtest.WriteLines(t, filepath.Join(dir, "activities.jsonl"), largeActivities(3)...)
	programtest.Run(t, dir, "import", "--store", "bolt://v.db", "activities.jsonl")
	programtest.Run(t, dir, "materialize", "--store", "bolt://v.db")
	programtest.WriteLines(t, filepath.Join(dir, "activities.jsonl"), largeActivities(4000)...)
	programtest.Run(t, dir, "import", "--store", "bolt://v.db", "activities.jsonl")
	info, err := os.Stat(filepath.Join(dir, "v.db"))
	if err != nil {
		t.Fatal(err)
	}

	programtest.Setenv(dir, programtest.SizeEnv, strconv.FormatInt(info.Size(), 10))
	s := programtest.Start(t, dir, "--store", "bolt://v.db").Ready()
	programtest.ResetEnv(dir) // programs started from here on have space
	programtest.Await(t, "a run fails", func() string { return programtest.Unless(runFailed(s.Log(), "activities")) })
	for range 20 {
		if status, body := s.Get("/api/activities"); status != http.StatusOK ||
			programtest.Decode(t, body).Count != 3 {
			t.Fatalf("with the disk full: %d %.200s", status, body)
		}
	}
	if code := s.Stop(); code != 0 {
		t.Errorf("SIGTERM: exit code %d\n%s", code, s.Log())
	}
	programtest.Run(t, dir, "materialize", "--store", "bolt://v.db")
	s = programtest.Start(t, dir, "--store", "bolt://v.db", "--no-materialize").Ready()
	if status, body := s.Get("/api/activities?limit=1"); status != http.StatusOK ||
		programtest.Decode(t, body).Count != 4000 {
		t.Errorf("with space again: %d %.200s", status, body)
	}
}

// largeActivities returns n lines of about 5 KB each.
func largeActivities(n int) (lines []string) {
	text := strings.Repeat("abstract ", 550)
	for i := range n {
		lines = append(lines,
			fmt.Sprintf(`{"_id":"a%d","type":"lecture","title":"Title %d","abstract":%q}`, i, i, text))
	}
	return lines
}

// runFailed reports whether a log reports a failed run of a view's job.
func runFailed(log, view string) bool {
	for _, line := range strings.Split(log, "\n") {
		var entry struct{ Msg, View, Result string }
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == "run" && entry.View == view &&
			entry.Result == "error" {
			return true
		}
	}
	return false
}
