package main

import (
	"sync"
	"time"

	"vitrine/cache/origin"
	"vitrine/cache/view"
	"vitrine/materialize"
)

// unrecordedRuns has the last run of each view's job in this process that failed or was held while the store did not take
// its outcome, as when the view's meta refuses this instance's lease. Everything that reports on jobs reads their
// health from the store, where such a view looks as good as before. The zero value has none.
type unrecordedRuns struct {
	mu   sync.Mutex // guards runs
	runs map[string]unrecordedRun
}

type unrecordedRun struct {
	status, reason string
	// storedStart is when the run began whose health the store has instead. Once the store has that of another run, in whichever
	// process, it knows more than we do. Times are only compared for equality, because clocks of hosts differ.
	storedStart time.Time
}

// record records the outcome of a run. A run that was stopped says nothing. Without an answer from the store, which is
// reported as away, nothing is known of the health that it has.
func (u *unrecordedRuns) record(o materialize.Outcome) {
	u.mu.Lock()
	defer u.mu.Unlock()
	status := map[materialize.Result]string{materialize.Failed: origin.HealthError, materialize.Held: origin.HealthHeld}[o.Result]
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

// servedViews has the views as the server reports them: with the health of runs that the store does not know.
type servedViews struct {
	*view.Set
	unrecorded *unrecordedRuns
}

// Status implements proxy.Source.
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
