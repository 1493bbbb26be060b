package main

import (
	"sync"
	"time"

	"vitrine/cache/origin"
	"vitrine/cache/view"
	"vitrine/materialize"
)

// unrecordedRuns has the last run of each view's job that failed or was held in this process, if its health was not
// written to the store: for example, the store refuses the token of this instance's lease. Health checks, status and
// metrics read the health from the store, which would still report the run before. The zero value has no runs.
type unrecordedRuns struct {
	mu   sync.Mutex // guards runs
	runs map[string]unrecordedRun
}

// unrecordedRun is the outcome of a run that the store could not record: status is one of the origin.Health
// constants; reason is the text of the run's error.
type unrecordedRun struct {
	status, reason string
	// storedStart is when the run began whose health the store has instead. Once the store has the health of another
	// run, by any process, that is newer. Times are only compared for equality, because clocks of hosts differ.
	storedStart time.Time
}

// record records the outcome of a run. It ignores a run that was stopped. It also drops the view's run if the store
// did not return the view's meta: which health the store has is then unknown, and the store is reported as
// unavailable.
func (u *unrecordedRuns) record(o materialize.Outcome) {
	u.mu.Lock()
	defer u.mu.Unlock()
	status := map[materialize.Result]string{
		materialize.Failed: origin.HealthError, materialize.Held: origin.HealthHeld,
	}[o.Result]
	switch {
	case o.Result == materialize.Stopped:
	case o.Unrecorded && status != "" && o.Meta.View != "":
		if u.runs == nil {
			u.runs = map[string]unrecordedRun{}
		}
		u.runs[o.View] = unrecordedRun{status, o.Err.Error(), o.Meta.Health.Started}
	default:
		delete(u.runs, o.View)
	}
}

// servedViews reports the views with the health of their last run, also if that was not written to the store.
type servedViews struct {
	*view.Set
	unrecorded *unrecordedRuns
}

// Status implements proxy.Source.
// A later run of another instance replaces the stored health, and its time of start no longer equals the one that
// record has seen. From then on the store counts again.
func (s servedViews) Status() []view.Status {
	all := s.Set.Status()
	s.unrecorded.mu.Lock()
	defer s.unrecorded.mu.Unlock()
	for i, st := range all {
		if run, ok := s.unrecorded.runs[st.View]; ok && run.storedStart.Equal(st.Meta.Health.Started) {
			all[i].Meta.Health.Status, all[i].Meta.Health.Error = run.status, run.reason
		}
	}
	return all
}
