package stores

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/cache/origin/mongo/mongotest"
	"vitrine/cmd/vitrine/programtest"
)

// TestEmptySource: the program warns of collections without records, and the server reports
// degraded, except for collections that may be missing. Both kinds of stores behave alike.
func TestEmptySource(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	empty := func(t *testing.T, dir, uri string) {
		programtest.WriteLines(t, filepath.Join(dir, "things.jsonl"), `{"_id":1}`)
		programtest.Run(t, dir, "import", "--store", uri, "things.jsonl")
		out, err := programtest.Command(dir, "status", "--store", uri, "--admin-listen", "").CombinedOutput()
		if err == nil || !strings.Contains(string(out), "has no views: is it the right store?") {
			t.Errorf("status: %v %s", err, out)
		}
		s := programtest.Start(t, dir, "--store", uri).Ready()
		var status int
		var body string
		programtest.Await(t, "all runs are known", func() string {
			// the outcome of a run is known a moment after its view
			status, body = s.Get("/readyz")
			return programtest.Unless(strings.Count(body, `"empty":true`) >= 8)
		})
		if status != http.StatusOK || !strings.Contains(body, `"state":"degraded"`) ||
			!strings.Contains(body, `no records`) ||
			strings.Contains(body, "deadlines") {
			t.Errorf("readyz: %d %s", status, body)
		}
		for _, collection := range []string{"activities", "persons", "projects", "proposals", "journals",
			"conferences"} {
			want := `"collection":"` + collection + `"` // a run's log follows its outcome
			programtest.Await(t, "the log has a warning with "+want, func() string {
				return programtest.Unless(strings.Contains(s.Log(), want))
			})
		}
		if _, text := programtest.Fetch(t, http.MethodGet, s.Admin+"/metrics"); !strings.Contains(text,
			`vitrine_view_job_empty{view="persons"} 1`) {
			t.Error("the metrics do not report the missing records")
		}
		args := []string{"--store", uri, "--admin-listen", strings.TrimPrefix(s.Admin, "http://")}
		if out := programtest.Status(t, dir, args, "empty: activities: "); strings.Contains(out, "empty: deadlines") {
			t.Errorf("status: %s", out)
		}
		s.Stop()
		programtest.Setenv(dir, "VITRINE_VIEWS_OPTIONAL",
			"activities,persons,projects,proposals,journals,events,user_units,spectrum,deadlines")
		s = programtest.Start(t, dir, "--store", uri).Ready()
		programtest.Await(t, "the server is not degraded", func() string {
			// as it is while a busy store does not answer
			if _, body := s.Get("/readyz"); strings.Contains(body, "degraded") {
				return body
			}
			return ""
		})
	}
	t.Run("embedded", func(t *testing.T) { empty(t, t.TempDir(), "bolt://v.db") })
	t.Run("MongoDB", func(t *testing.T) { empty(t, t.TempDir(), mongotest.Start(t)+"institute") })
}
