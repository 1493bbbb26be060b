package admin

import "fmt"

// Refresh is a request for a refresh. The zero Refresh runs every job once, for changes only, and does not wait.
type Refresh struct {
	View  string // if empty, all
	Full  bool   // render every record again
	Force bool   // publish even if many rows would disappear
	Wait  bool   // respond when the jobs have run and this instance shows what they published
}

// RefreshResult is the result of a Refresh.
type RefreshResult struct {
	Done  bool     `json:"done"`           // false if the jobs, or the refresh of held views, are still running
	Views []string `json:"views"`          // the refreshed views
	Runs  []JobRun `json:"runs,omitempty"` // results of the jobs that have run
	Msg   string   `json:"msg,omitempty"`  // says what the refresh does not do
}

// JobRun is the result of one run of a view's job. Counts are of rows or records of this run alone.
type JobRun struct {
	View       string  `json:"view"`
	Result     string  `json:"result"` // published, unchanged, held, error or stopped
	OK         bool    `json:"ok"`     // the result is published or unchanged
	Error      string  `json:"error,omitempty"`
	Generation uint64  `json:"generation"`
	Rows       int     `json:"rows"`
	Scanned    int     `json:"scanned"`
	Changed    int     `json:"changed"`
	Removed    int     `json:"removed"`
	Skipped    int     `json:"skipped"`
	Missing    int     `json:"missing,omitempty"` // rows that the store had lost
	Seconds    float64 `json:"seconds"`
	// why this instance does not show the generation, though the run is OK
	NotShown string `json:"not_shown,omitempty"`
}

// Failed reports whether the run published nothing that it should have, or this instance does not show its rows.
func (r JobRun) Failed() bool { return !r.OK || r.NotShown != "" }

// NotLeadingError is returned by Options.Refresh if another instance runs the jobs, or none does.
type NotLeadingError struct {
	Holder  string // name of the instance that holds the lease; empty if there is none
	Self    bool   // this instance holds the lease, but does not run the jobs at the moment
	Ran, Of int    // jobs that had run, and all jobs, when this instance stopped running them; 0 if it did nothing
}

// Error implements error. Operators read the text, so it says what to do next.
func (e *NotLeadingError) Error() string {
	switch {
	case e.Ran > 0:
		return fmt.Sprintf("This instance stopped running the jobs after %d of %d; see its log, and ask again.",
			e.Ran, e.Of)
	case e.Self:
		return "This instance holds the lease but does not run the jobs yet, or any more: " +
			"ask again in a moment; nothing was done."
	case e.Holder == "":
		return "No instance runs the jobs at the moment; nothing was done."
	}
	return "The jobs are run by " + e.Holder + ": ask that instance; nothing was done here."
}
