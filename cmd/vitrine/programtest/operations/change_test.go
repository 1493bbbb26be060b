package operations

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"vitrine/cache/origin"
	"vitrine/cmd/vitrine/programtest"
)

// TestRefreshElsewhere: an instance that does not run the jobs refuses every refresh, and names the
// instance that runs them.
func TestRefreshElsewhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	programtest.WriteLines(t, dir+"/activities.jsonl", `{"_id":"a","title":"A","type":"lecture"}`)
	uri := "bolt://" + dir + "/v.db"
	programtest.Run(t, dir, "import", "--store", uri, "activities.jsonl")
	programtest.Run(t, dir, "materialize", "--store", uri)
	refuses := func(s *programtest.Server, want string) {
		t.Helper()
		for _, query := range []string{"", "?full=1&force=1", "?wait=1", "?view=activities"} {
			if status, body := programtest.Fetch(t, http.MethodPost, s.Admin+"/admin/refresh"+query); status !=
				http.StatusConflict ||
				programtest.Decode(t, body).Error != "NotLeading" || !strings.Contains(body, want) {
				t.Errorf("refresh%s: %d %s, want %s", query, status, body, want)
			}
		}
		if code := s.Stop(); code != 0 {
			t.Errorf("SIGTERM: exit code %d", code)
		}
	}
	refuses(programtest.Start(t, dir, "--store", uri, "--no-materialize").Ready(), "No instance runs the jobs")
	programtest.WithStore(t, uri, func(store origin.Store) {
		if _, err := store.Acquire(t.Context(), "materialize", "otherhost/17/ABCDEFGH", time.Hour); err != nil {
			t.Fatal(err)
		}
	})
	refuses(programtest.Start(t, dir, "--store", uri, "--no-materialize").Ready(), "run by otherhost/17/ABCDEFGH")
	refuses(programtest.Start(t, dir, "--store", uri).Ready(), "run by otherhost/17/ABCDEFGH")
}

// TestOnlyChangesAreRendered counts the renders that `vitrine materialize` reports.
func TestOnlyChangesAreRendered(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	programtest.WriteLines(t, dir+"/activities.jsonl", `{"_id":"a","title":"A","type":"lecture"}`,
		`{"_id":"b","title":"B","type":"lecture"}`)
	programtest.Run(t, dir, "import", "--store", "bolt://v.db", "activities.jsonl")
	wantRendered(t, programtest.Run(t, dir, "materialize", "--store", "bolt://v.db", "--view", "activities"), "2")
	wantRendered(t, programtest.Run(t, dir, "materialize", "--store", "bolt://v.db", "--view", "activities"), "0")
	programtest.WriteLines(t, dir+"/activities.jsonl", `{"_id":"b","title":"B, changed","type":"lecture"}`,
		`{"_id":"c","title":"C","type":"lecture"}`)
	programtest.Run(t, dir, "import", "--store", "bolt://v.db", "activities.jsonl")
	wantRendered(t, programtest.Run(t, dir, "materialize", "--store", "bolt://v.db", "--view", "activities"), "2")
	wantRendered(t,
		programtest.Run(t, dir, "materialize", "--store", "bolt://v.db", "--view", "activities", "--full"), "3")
}

// wantRendered checks the column RENDERED of the one view in a materialize table.
func wantRendered(t *testing.T, table, want string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(table), "\n")
	// What the records lack that lists need follows the table.
	if len(lines) < 2 || len(lines) > 2 && !strings.HasPrefix(strings.TrimSpace(lines[2]), "records: ") {
		t.Fatalf("not a table of one view:\n%s", table)
	}
	head, row := strings.Fields(lines[0]), strings.Fields(lines[1])
	for i, name := range head {
		if name == "RENDERED" && row[i] != want {
			t.Errorf("rendered %s, want %s", row[i], want)
		}
	}
}
