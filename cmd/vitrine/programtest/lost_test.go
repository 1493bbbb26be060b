package programtest

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
)

// activitiesOf returns the number of activities served; -1 if there is no such answer.
func activitiesOf(s *server) int {
	s.t.Helper()
	status, body := s.get("/api/activities?limit=1")
	var answer struct{ Count int }
	if status == http.StatusServiceUnavailable {
		return -1
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil || status != http.StatusOK {
		s.t.Fatalf("activities: %d %v %s", status, err, body)
	}
	return answer.Count
}

// until repeats a request until its answer has all words.
func (s *server) until(path string, words ...string) (status int, body string) {
	s.t.Helper()
	await(s.t, fmt.Sprintf("%s has %q", path, words), func() string {
		status, body = s.get(path)
		for _, word := range words {
			if !strings.Contains(body, word) {
				return body
			}
		}
		return ""
	})
	return status, body
}

// serves waits until a server shows a number of activities.
func (s *server) serves(want int) {
	s.t.Helper()
	await(s.t, fmt.Sprintf("%d activities are served", want), func() string {
		if got := activitiesOf(s); got != want {
			return strconv.Itoa(got)
		}
		return ""
	})
}

// refreshed requests a refresh from the operator's listener, and returns the status and answer.
func (s *server) refreshed(query string) (int, string) {
	s.t.Helper()
	return fetch(s.t, http.MethodPost, s.admin+"/admin/refresh?"+query)
}

// runs requests jobs from the server, or from the one of some others that leads, and returns the answer. Without the
// lease a server refuses: it may be ready before it has the lease, and on a busy machine it may lose it, and take it
// again or not.
func (s *server) runs(query string, others ...*server) string {
	s.t.Helper()
	answer := ""
	await(s.t, "a server runs jobs", func() (refusal string) {
		for _, one := range append([]*server{s}, others...) {
			status, body := one.refreshed(query)
			if status/100 == 2 {
				answer = body
				return ""
			}
			if status != http.StatusConflict && status/100 != 5 {
				s.t.Fatalf("refresh: %d %s", status, body)
			}
			refusal = body
		}
		return refusal
	})
	return answer
}

// restores requests a run of the activities, and checks that it restores lost rows. Jobs that the server ran by
// itself when it took its lease may have done so before.
func (s *server) restores(lost int) {
	s.t.Helper()
	body := s.runs("view=activities&wait=1")
	logged := regexp.MustCompile(fmt.Sprintf(`"missing_from_store":%d[,}]`, lost))
	if !strings.Contains(body, fmt.Sprintf(`"missing":%d,`, lost)) && !logged.MatchString(s.logged()) {
		s.t.Errorf("the next run restores no %d rows: %s", lost, body)
	}
}

// forced requests that a front end shows what the store has of the activities, and waits until it shows them. It
// returns the answer. A front end refuses while it does not know that the view is held, because its last poll failed;
// if a later one fails, it answers before it shows the view.
func (s *server) forced(rows int) (answer string) {
	s.t.Helper()
	await(s.t, "the front end shows a view by force", func() string {
		status, body := s.refreshed("view=activities&force=1&wait=1")
		switch done := strings.Contains(body, `"done":true`); {
		case status == http.StatusOK && done:
			answer = body
			return ""
		case status == http.StatusAccepted && !done && strings.Contains(body, "Not shown yet"):
			answer = body
		case status != http.StatusConflict && status != http.StatusServiceUnavailable:
			s.t.Fatalf("forced on a front end: %d %s", status, body)
		}
		if answer != "" && activitiesOf(s) == rows {
			return ""
		}
		return body
	})
	return answer
}

// statusOf runs `vitrine status` until it succeeds and says all words, and returns what it says. It waits five
// seconds for the store and one for the server, which a busy machine exceeds.
func statusOf(t *testing.T, dir string, args []string, words ...string) (said string) {
	t.Helper()
	await(t, fmt.Sprintf("vitrine status says %q", words), func() string {
		cmd := command(dir, append([]string{"status"}, args...)...)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			return fmt.Sprintf("%v: %s", err, stderr.String())
		}
		said = string(out)
		return lacking(said, words...)
	})
	return said
}

// lacking returns "" if a text has all words, or else the text, as await wants it.
func lacking(text string, words ...string) string {
	for _, word := range words {
		if !strings.Contains(text, word) {
			return "only: " + text
		}
	}
	return ""
}

// sayHeld waits until every place where an operator looks says that a view is held. While a poll fails, its error is
// said instead; the log may follow the other places.
func sayHeld(t *testing.T, s *server, dir, store, reason, missing string) {
	t.Helper()
	await(t, fmt.Sprintf("/admin/views has %q", reason), func() string {
		_, body := fetch(t, http.MethodGet, s.admin+"/admin/views")
		return lacking(body, reason)
	})
	await(t, "the metrics have the held view and its missing rows", func() string {
		_, metrics := fetch(t, http.MethodGet, s.admin+"/metrics")
		return lacking(metrics, `vitrine_view_held{view="activities"} 1`,
			`vitrine_view_missing_rows{view="activities"} `+missing)
	})
	statusOf(t, dir, []string{"--store", store, "--admin-listen", strings.TrimPrefix(s.admin, "http://")},
		"server: view activities is held: "+reason)
	await(t, fmt.Sprintf("the log has %q", reason), func() string { return lacking(s.logged(), "view held", reason) })
}

// TestLostRowsOfTheEmbeddedStore does the same with rows removed from the file while no server has
// it open, and with another file in its place.
func TestLostRowsOfTheEmbeddedStore(t *testing.T) {
	wholeOnly(t)
	t.Parallel()
	dir, filed := t.TempDir(), t.TempDir()
	someDemo(t, dir, 60)
	path := filepath.Join(dir, "v.db")
	store := "bolt://" + path
	vitrine(t, dir, "import", "--store", store, "dump")
	set(filed, snapshots, "files")
	set(filed, "VITRINE_VIEWS_POLL", "100ms")
	stopped := func(s *server) {
		if code := s.stop(); code != 0 {
			t.Errorf("exit code %d", code)
		}
	}
	first := startServer(t, filed, "--store", store).ready()
	first.serves(60)
	stopped(first)

	lose(t, path, "activities", 7)
	lone := startServer(t, dir, "--store", store, "--no-materialize")
	const lost = "the store has 53 of the 60 rows of generation 1"
	if status, body := lone.until("/readyz", lost); status != http.StatusServiceUnavailable {
		t.Errorf("readyz: %d %s", status, body)
	}
	sayHeld(t, lone, dir, store, lost, "7")
	stopped(lone)
	keeps := startServer(t, filed, "--store", store, "--no-materialize").ready()
	if got := activitiesOf(keeps); got != 60 {
		t.Errorf("with a snapshot file: %d activities", got)
	}
	stopped(keeps)
	if out := vitrine(t, dir, "materialize", "--store", store); !strings.Contains(out,
		"missing: activities: the store had lost 7 rows") {
		t.Errorf("materialize:\n%s", out)
	}
	lone = startServer(t, dir, "--store", store, "--no-materialize").ready()
	lone.serves(60)
	stopped(lone)

	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "things.jsonl"), `{"_id":1}`)
	vitrine(t, dir, "import", "--store", store, filepath.Join(dir, "things.jsonl"))
	keeps = startServer(t, filed, "--store", store).ready()
	const lostView = "the store has lost the view, of which this instance has 60 rows, and the run would leave 0"
	if keeps.until("/readyz", "the store no longer has it", lostView); activitiesOf(keeps) != 60 {
		t.Errorf("%d activities", activitiesOf(keeps))
	}
	if status, body := keeps.refreshed("force=1&wait=1"); status != http.StatusOK {
		t.Errorf("forced: %d %s", status, body)
	}
	keeps.serves(0)
}

// TestLostDatabaseKeepsItsKeys: if an OSIRIS database is lost, the program holds its views and
// keeps its keys and rights: callers gain no access.
func TestLostDatabaseKeepsItsKeys(t *testing.T) {
	wholeOnly(t)
	t.Parallel()
	dir := t.TempDir()
	dump, err := filepath.Abs("testdata/osiris")
	if err != nil {
		t.Fatal(err)
	}
	store := "bolt://" + filepath.Join(dir, "v.db")
	vitrine(t, dir, "import", "--store", store, dump)
	set(dir, snapshots, "files")
	s := startServer(t, dir, "--preset", "osiris", "--store", store).ready()
	if status, _ := s.get("/api/activities"); status != http.StatusForbidden {
		t.Errorf("without a key: %d", status)
	}
	if code := s.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if err := os.Remove(filepath.Join(dir, "v.db")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "things.jsonl"), `{"_id":1}`)
	vitrine(t, dir, "import", "--store", store, "things.jsonl")
	s = startServer(t, dir, "--preset", "osiris", "--store", store).ready()
	s.until("/readyz", "view activities is held: the store no longer has it",
		`"job_held":"the store has lost the view`)
	if status, body := s.get("/api/activities"); status != http.StatusForbidden {
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
