package programtest

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"vitrine/proxy/health"
)

// TestJobsRunAfterLoading: a process that starts on a store with views shows all of them before it
// runs a job, so that no request waits for both.
func TestJobsRunAfterLoading(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir+"/activities.jsonl", `{"_id":"a","title":"A","type":"lecture"}`,
		`{"_id":"b","title":"B","type":"lecture"}`)
	vitrine(t, dir, "import", "--store", "bolt://v.db", "activities.jsonl")
	vitrine(t, dir, "materialize", "--store", "bolt://v.db")
	began := time.Now().Truncate(time.Millisecond)
	s := startServer(t, dir, "--store", "bolt://v.db").ready()
	views := s.ran(began)
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
func (s *server) ran(since time.Time) []health.ViewStatus {
	s.t.Helper()
	var views struct{ Data []health.ViewStatus }
	await(s.t, "all jobs have run", func() string {
		_, body := fetch(s.t, http.MethodGet, s.admin+"/admin/views")
		views.Data = nil
		if err := json.Unmarshal([]byte(body), &views); err != nil {
			s.t.Fatal(err)
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
