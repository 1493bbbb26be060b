package materialize

import (
	"slices"
	"time"

	"vitrine/rules/backoff"
)

// Minimal pauses between the runs of one job.
const (
	changeGap = 5 * time.Second // between runs requested by change streams
	firstWait = 5 * time.Second // after the first error; doubled with each further one
	maxWait   = 5 * time.Minute // after many errors
)

// runRequest is a request for a run of a job. Requests that arrive while one is pending are coalesced with it.
type runRequest struct {
	changed      bool // the source has changed: run after changeGap
	tallyChanged bool // the tally of a summary has changed: run after changeGap, as if scheduled
	now          bool // a caller waits: run at once
	full         bool
	force        bool // belongs to one run, see retry

	waiting []chan<- Outcome // each has a buffer of one; closed if there will be no run
}

// with returns the request for one run that fulfils both. It answers the callers of both.
func (a runRequest) with(b runRequest) runRequest {
	return runRequest{
		changed: a.changed || b.changed, tallyChanged: a.tallyChanged || b.tallyChanged,
		now: a.now || b.now, full: a.full || b.full, force: a.force || b.force,
		waiting: slices.Concat(a.waiting, b.waiting),
	}
}

// retry returns what stays to be done after a failed run for a request. It names what is kept, so that a new field is
// not kept by mistake: callers have their answer, and a force was meant for the source as its caller knew it. By the
// next try, hours later perhaps, a collection may have been emptied. A full reading harms nothing.
func (a runRequest) retry() runRequest {
	return runRequest{changed: a.changed, tallyChanged: a.tallyChanged, full: a.full}
}

// task is a job with the times of its runs. It belongs to the goroutine that runs jobs.
type task struct {
	job      Job
	schedule *Schedule // nil if there is none
	next     time.Time // the next scheduled time; zero if there is none
	pending  runRequest
	empty    bool      // the last finished run found no records, and this was logged
	findings []string  // what records lack, as last logged
	ended    time.Time // when the last run ended
	pauses   *backoff.Exponential
	retry    time.Time // earliest time of the next run after an error; zero after a success
}

// due returns when the task should run, or the zero time if there is no reason.
func (t *task) due(now time.Time) time.Time {
	switch {
	case t.pending.now:
		return now
	case !t.retry.IsZero():
		return t.retry
	case (t.pending.changed || t.pending.tallyChanged) && (t.next.IsZero() || t.ended.Add(changeGap).Before(t.next)):
		return t.ended.Add(changeGap)
	}
	return t.next
}

// pass moves the task to its first scheduled time after now and returns how many scheduled times have passed.
func (t *task) pass(now time.Time) int {
	n := 0
	for !t.next.IsZero() && !t.next.After(now) {
		t.next = t.schedule.Next(t.next)
		n++
	}
	return n
}

// clockSet updates the task's times after the clock was set to now, by the given step.
func (t *task) clockSet(now time.Time, by time.Duration) {
	t.next = t.schedule.anew(t.next, now)
	t.ended = t.ended.Add(by)
	if !t.retry.IsZero() {
		t.retry = t.retry.Add(by)
	}
}

// finish records the outcome of the run for a request. After a failure another run is due, without force.
func (t *task) finish(out Outcome, request runRequest, now time.Time) {
	t.ended = now
	if out.Result != Failed {
		t.pauses.Reset()
		t.retry = time.Time{}
		return
	}
	t.retry = now.Add(t.pauses.NextBackOff())
	t.pending = t.pending.with(request.retry())
}

// waitJitter is the share of a pause by which it is longer or shorter, so that instances do not retry at the same
// time.
const waitJitter = .5

// newPauses returns the pauses after errors in a row.
func newPauses() *backoff.Exponential { return backoff.New(firstWait, maxWait, waitJitter) }
