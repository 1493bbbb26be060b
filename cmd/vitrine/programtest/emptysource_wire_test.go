package programtest

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/cache/origin/mongo/mongotest"
)

// TestEmptySource: the program warns of collections without records, and the server reports
// degraded, except for collections that may be missing. Both kinds of stores behave alike.
func TestEmptySource(t *testing.T) {
	wholeOnly(t)
	t.Parallel()
	empty := func(t *testing.T, dir, uri string) {
		write(t, filepath.Join(dir, "things.jsonl"), `{"_id":1}`)
		vitrine(t, dir, "import", "--store", uri, "things.jsonl")
		out, err := command(dir, "status", "--store", uri, "--admin-listen", "").CombinedOutput()
		if err == nil || !strings.Contains(string(out), "has no views: is it the right store?") {
			t.Errorf("status: %v %s", err, out)
		}
		s := startServer(t, dir, "--store", uri).ready()
		var status int
		var body string
		await(t, "all runs are known", func() string { // the outcome of a run is known a moment after its view
			status, body = s.get("/readyz")
			return unless(strings.Count(body, `"empty":true`) >= 8)
		})
		if status != http.StatusOK || !strings.Contains(body, `"state":"degraded"`) ||
			!strings.Contains(body, `no records`) ||
			strings.Contains(body, "deadlines") {
			t.Errorf("readyz: %d %s", status, body)
		}
		for _, collection := range []string{"activities", "persons", "projects", "proposals", "journals",
			"conferences"} {
			want := `"collection":"` + collection + `"` // a run's log follows its outcome
			await(t, "the log has a warning with "+want, func() string {
				return unless(strings.Contains(s.logged(), want))
			})
		}
		if _, text := fetch(t, http.MethodGet, s.admin+"/metrics"); !strings.Contains(text,
			`vitrine_view_job_empty{view="persons"} 1`) {
			t.Error("the metrics do not report the missing records")
		}
		args := []string{"--store", uri, "--admin-listen", strings.TrimPrefix(s.admin, "http://")}
		if out := statusOf(t, dir, args, "empty: activities: "); strings.Contains(out, "empty: deadlines") {
			t.Errorf("status: %s", out)
		}
		s.stop()
		set(dir, "VITRINE_VIEWS_OPTIONAL",
			"activities,persons,projects,proposals,journals,events,user_units,spectrum,deadlines")
		s = startServer(t, dir, "--store", uri).ready()
		await(t, "the server is not degraded", func() string { // as it is while a busy store does not answer
			if _, body := s.get("/readyz"); strings.Contains(body, "degraded") {
				return body
			}
			return ""
		})
	}
	t.Run("embedded", func(t *testing.T) { empty(t, t.TempDir(), "bolt://v.db") })
	t.Run("MongoDB", func(t *testing.T) { empty(t, t.TempDir(), mongotest.Start(t)+"institute") })
}
