package operations

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"vitrine/cmd/vitrine/programtest"
	"vitrine/proxy/health"
)

// TestJobsRunAfterLoading: a process that starts on a store with views shows all of them before it
// runs a job, so that no request waits for both.
func TestJobsRunAfterLoading(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	programtest.WriteLines(t, dir+"/activities.jsonl", `{"_id":"a","title":"A","type":"lecture"}`,
		`{"_id":"b","title":"B","type":"lecture"}`)
	programtest.Run(t, dir, "import", "--store", "bolt://v.db", "activities.jsonl")
	programtest.Run(t, dir, "materialize", "--store", "bolt://v.db")
	began := time.Now().Truncate(time.Millisecond)
	s := programtest.Start(t, dir, "--store", "bolt://v.db").Ready()
	views := ran(s, began)
	for _, shown := range views {
		for _, built := range views {
			// Stores keep times in milliseconds.
			if built.Job.Started.Before(shown.Loaded.Truncate(time.Millisecond)) {
				t.Errorf("the job of %s ran at %v, before %s was loaded at %v", built.View, built.Job.Started,
					shown.View, shown.Loaded)
			}
		}
	}
}

// ran waits until every view's job has run since a time, and returns the status of the views.
func ran(s *programtest.Server, since time.Time) []health.ViewStatus {
	s.T.Helper()
	var views struct{ Data []health.ViewStatus }
	programtest.Await(s.T, "all jobs have run", func() string {
		_, body := programtest.Fetch(s.T, http.MethodGet, s.Admin+"/admin/views")
		views.Data = nil
		if err := json.Unmarshal([]byte(body), &views); err != nil {
			s.T.Fatal(err)
		}
		all := len(views.Data) > 0
		for _, v := range views.Data {
			all = all && v.Job.Started != nil && !v.Job.Started.Before(since)
		}
		if all {
			return ""
		}
		return body
	})
	return views.Data
}
