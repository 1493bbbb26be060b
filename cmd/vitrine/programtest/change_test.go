package programtest

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"vitrine/cache/origin"
)

// TestRefreshElsewhere: an instance that does not run the jobs refuses every refresh, and names the
// instance that runs them.
func TestRefreshElsewhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir+"/activities.jsonl", `{"_id":"a","title":"A","type":"lecture"}`)
	uri := "bolt://" + dir + "/v.db"
	vitrine(t, dir, "import", "--store", uri, "activities.jsonl")
	vitrine(t, dir, "materialize", "--store", uri)
	refuses := func(s *server, want string) {
		t.Helper()
		for _, query := range []string{"", "?full=1&force=1", "?wait=1", "?view=activities"} {
			if status, body := fetch(t, http.MethodPost, s.admin+"/admin/refresh"+query); status !=
				http.StatusConflict ||
				decode(t, body).Error != "NotLeading" || !strings.Contains(body, want) {
				t.Errorf("refresh%s: %d %s, want %s", query, status, body, want)
			}
		}
		if code := s.stop(); code != 0 {
			t.Errorf("SIGTERM: exit code %d", code)
		}
	}
	refuses(startServer(t, dir, "--store", uri, "--no-materialize").ready(), "No instance runs the jobs")
	withStore(t, uri, func(store origin.Store) {
		if _, err := store.Acquire(t.Context(), "materialize", "otherhost/17/ABCDEFGH", time.Hour); err != nil {
			t.Fatal(err)
		}
	})
	refuses(startServer(t, dir, "--store", uri, "--no-materialize").ready(), "run by otherhost/17/ABCDEFGH")
	refuses(startServer(t, dir, "--store", uri).ready(), "run by otherhost/17/ABCDEFGH")
}

// TestOnlyChangesAreRendered counts the renders that `vitrine materialize` reports.
func TestOnlyChangesAreRendered(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir+"/activities.jsonl", `{"_id":"a","title":"A","type":"lecture"}`,
		`{"_id":"b","title":"B","type":"lecture"}`)
	vitrine(t, dir, "import", "--store", "bolt://v.db", "activities.jsonl")
	wantRendered(t, vitrine(t, dir, "materialize", "--store", "bolt://v.db", "--view", "activities"), "2")
	wantRendered(t, vitrine(t, dir, "materialize", "--store", "bolt://v.db", "--view", "activities"), "0")
	write(t, dir+"/activities.jsonl", `{"_id":"b","title":"B, changed","type":"lecture"}`,
		`{"_id":"c","title":"C","type":"lecture"}`)
	vitrine(t, dir, "import", "--store", "bolt://v.db", "activities.jsonl")
	wantRendered(t, vitrine(t, dir, "materialize", "--store", "bolt://v.db", "--view", "activities"), "2")
	wantRendered(t, vitrine(t, dir, "materialize", "--store", "bolt://v.db", "--view", "activities", "--full"), "3")
}
