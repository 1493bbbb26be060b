package stores

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	bbolt "go.etcd.io/bbolt"

	"vitrine/cmd/vitrine/programtest"
)

// activitiesOf returns the number of activities served; -1 if there is no such answer.
func activitiesOf(s *programtest.Server) int {
	s.T.Helper()
	status, body := s.Get("/api/activities?limit=1")
	var answer struct{ Count int }
	if status == http.StatusServiceUnavailable {
		return -1
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil || status != http.StatusOK {
		s.T.Fatalf("activities: %d %v %s", status, err, body)
	}
	return answer.Count
}

// serves waits until a server shows a number of activities.
func serves(s *programtest.Server, want int) {
	s.T.Helper()
	programtest.Await(s.T, fmt.Sprintf("%d activities are served", want), func() string {
		if got := activitiesOf(s); got != want {
			return strconv.Itoa(got)
		}
		return ""
	})
}

// restores requests a run of the activities, and checks that it restores lost rows. Jobs that the server ran by
// itself when it took its lease may have done so before.
func restores(s *programtest.Server, lost int) {
	s.T.Helper()
	body := s.RunJobs("view=activities&wait=1")
	logged := regexp.MustCompile(fmt.Sprintf(`"missing_from_store":%d[,}]`, lost))
	if !strings.Contains(body, fmt.Sprintf(`"missing":%d,`, lost)) && !logged.MatchString(s.Log()) {
		s.T.Errorf("the next run restores no %d rows: %s", lost, body)
	}
}

// forced requests that a front end shows what the store has of the activities, and waits until it shows them. It
// returns the answer. A front end refuses while it does not know that the view is held, because its last poll failed;
// if a later one fails, it answers before it shows the view.
func forced(s *programtest.Server, rows int) (answer string) {
	s.T.Helper()
	programtest.Await(s.T, "the front end shows a view by force", func() string {
		status, body := s.Refresh("view=activities&force=1&wait=1")
		switch done := strings.Contains(body, `"done":true`); {
		case status == http.StatusOK && done:
			answer = body
			return ""
		case status == http.StatusAccepted && !done && strings.Contains(body, "Not shown yet"):
			answer = body
		case status != http.StatusConflict && status != http.StatusServiceUnavailable:
			s.T.Fatalf("forced on a front end: %d %s", status, body)
		}
		if answer != "" && activitiesOf(s) == rows {
			return ""
		}
		return body
	})
	return answer
}

// sayHeld waits until every place where an operator looks says that a view is held. While a poll fails, its error is
// said instead; the log may follow the other places.
func sayHeld(t *testing.T, s *programtest.Server, dir, store, reason, missing string) {
	t.Helper()
	programtest.Await(t, fmt.Sprintf("/admin/views has %q", reason), func() string {
		_, body := programtest.Fetch(t, http.MethodGet, s.Admin+"/admin/views")
		return programtest.Lacking(body, reason)
	})
	programtest.Await(t, "the metrics have the held view and its missing rows", func() string {
		_, metrics := programtest.Fetch(t, http.MethodGet, s.Admin+"/metrics")
		return programtest.Lacking(metrics, `vitrine_view_held{view="activities"} 1`,
			`vitrine_view_missing_rows{view="activities"} `+missing)
	})
	programtest.Status(t, dir, []string{"--store", store, "--admin-listen", strings.TrimPrefix(s.Admin, "http://")},
		"server: view activities is held: "+reason)
	programtest.Await(t, fmt.Sprintf("the log has %q", reason),
		func() string { return programtest.Lacking(s.Log(), "view held", reason) })
}

// TestLostRowsOfTheEmbeddedStore does the same with rows removed from the file while no server has
// it open, and with another file in its place.
func TestLostRowsOfTheEmbeddedStore(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	dir, filed := t.TempDir(), t.TempDir()
	programtest.WriteDemo(t, dir, 60)
	path := filepath.Join(dir, "v.db")
	store := "bolt://" + path
	programtest.Run(t, dir, "import", "--store", store, "dump")
	programtest.Setenv(filed, programtest.SnapshotEnv, "files")
	programtest.Setenv(filed, "VITRINE_VIEWS_POLL", "100ms")
	stopped := func(s *programtest.Server) {
		if code := s.Stop(); code != 0 {
			t.Errorf("exit code %d", code)
		}
	}
	first := programtest.Start(t, filed, "--store", store).Ready()
	serves(first, 60)
	stopped(first)

	lose(t, path, "activities", 7)
	lone := programtest.Start(t, dir, "--store", store, "--no-materialize")
	const lost = "the store has 53 of the 60 rows of generation 1"
	if status, body := lone.Until("/readyz", lost); status != http.StatusServiceUnavailable {
		t.Errorf("readyz: %d %s", status, body)
	}
	sayHeld(t, lone, dir, store, lost, "7")
	stopped(lone)
	keeps := programtest.Start(t, filed, "--store", store, "--no-materialize").Ready()
	if got := activitiesOf(keeps); got != 60 {
		t.Errorf("with a snapshot file: %d activities", got)
	}
	stopped(keeps)
	if out := programtest.Run(t, dir, "materialize", "--store", store); !strings.Contains(out,
		"missing: activities: the store had lost 7 rows") {
		t.Errorf("materialize:\n%s", out)
	}
	lone = programtest.Start(t, dir, "--store", store, "--no-materialize").Ready()
	serves(lone, 60)
	stopped(lone)

	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	programtest.WriteLines(t, filepath.Join(dir, "things.jsonl"), `{"_id":1}`)
	programtest.Run(t, dir, "import", "--store", store, filepath.Join(dir, "things.jsonl"))
	keeps = programtest.Start(t, filed, "--store", store).Ready()
	const lostView = "the store has lost the view, of which this instance has 60 rows, and the run would leave 0"
	if keeps.Until("/readyz", "the store no longer has it", lostView); activitiesOf(keeps) != 60 {
		t.Errorf("%d activities", activitiesOf(keeps))
	}
	if status, body := keeps.Refresh("force=1&wait=1"); status != http.StatusOK {
		t.Errorf("forced: %d %s", status, body)
	}
	serves(keeps, 0)
}

// TestLostDatabaseKeepsItsKeys: if an OSIRIS database is lost, the program holds its views and
// keeps its keys and rights: callers gain no access.
func TestLostDatabaseKeepsItsKeys(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	dir := t.TempDir()
	dump, err := filepath.Abs("../testdata/osiris")
	if err != nil {
		t.Fatal(err)
	}
	store := "bolt://" + filepath.Join(dir, "v.db")
	programtest.Run(t, dir, "import", "--store", store, dump)
	programtest.Setenv(dir, programtest.SnapshotEnv, "files")
	s := programtest.Start(t, dir, "--preset", "osiris", "--store", store).Ready()
	if status, _ := s.Get("/api/activities"); status != http.StatusForbidden {
		t.Errorf("without a key: %d", status)
	}
	if code := s.Stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if err := os.Remove(filepath.Join(dir, "v.db")); err != nil {
		t.Fatal(err)
	}
	programtest.WriteLines(t, filepath.Join(dir, "things.jsonl"), `{"_id":1}`)
	programtest.Run(t, dir, "import", "--store", store, "things.jsonl")
	s = programtest.Start(t, dir, "--preset", "osiris", "--store", store).Ready()
	s.Until("/readyz", "view activities is held: the store no longer has it",
		`"job_held":"the store has lost the view`)
	if status, body := s.Get("/api/activities"); status != http.StatusForbidden {
		t.Errorf("without a key, while the view is held: %d %.100s", status, body)
	}
}

// lose removes rows of a view from a file.
func lose(t *testing.T, path, view string, rows int) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		bucket := tx.Bucket([]byte("views")).Bucket([]byte(view)).Bucket([]byte("rows"))
		for range rows {
			key, _ := bucket.Cursor().First()
			if err := bucket.Delete(key); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
