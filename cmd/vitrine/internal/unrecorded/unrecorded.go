// Package unrecorded keeps the outcomes of runs that could not be written to the store.
package unrecorded

import (
	"sync"
	"time"

	"vitrine/cache/origin"
	"vitrine/cache/view"
	"vitrine/materialize"
)

// Runs has the last run of each view's job that failed or was held in this process, if its health was not
// written to the store: for example, the store refuses the token of this instance's lease. Health checks, status and
// metrics read the health from the store, which would still report the run before. The zero value has no runs.
type Runs struct {
	mu   sync.Mutex // guards runs
	runs map[string]run
}

// run is the outcome of a run that the store could not record: status is one of the origin.Health
// constants; reason is the text of the run's error.
type run struct {
	status, reason string
	// storedStart is when the run began whose health the store has instead. Once the store has the health of another
	// run, by any process, that is newer. Times are only compared for equality, because clocks of hosts differ.
	storedStart time.Time
}

// Record records the outcome of a run. It ignores a run that was stopped. It also drops the view's run if the store
// did not return the view's meta: which health the store has is then unknown, and the store is reported as
// unavailable.
func (u *Runs) Record(o materialize.Outcome) {
	u.mu.Lock()
	defer u.mu.Unlock()
	status := map[materialize.Result]string{
		materialize.Failed: origin.HealthError, materialize.Held: origin.HealthHeld,
	}[o.Result]
	switch {
	case o.Result == materialize.Stopped:
	case o.Unrecorded && status != "" && o.Meta.View != "":
		if u.runs == nil {
			u.runs = map[string]run{}
		}
		u.runs[o.View] = run{status, o.Err.Error(), o.Meta.Health.Started}
	default:
		delete(u.runs, o.View)
	}
}

// Views reports the views with the health of their last run, also if that was not written to the store.
type Views struct {
	*view.Set
	Unrecorded *Runs
}

// Status implements proxy.Source.
// A later run of another instance replaces the stored health, and its time of start no longer equals the one that
// Record has seen. From then on the store counts again.
func (s Views) Status() []view.Status {
	all := s.Set.Status()
	s.Unrecorded.mu.Lock()
	defer s.Unrecorded.mu.Unlock()
	for i, st := range all {
		if last, ok := s.Unrecorded.runs[st.View]; ok && last.storedStart.Equal(st.Meta.Health.Started) {
			all[i].Meta.Health.Status, all[i].Meta.Health.Error = last.status, last.reason
		}
	}
	return all
}
