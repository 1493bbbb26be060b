package materialize

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"vitrine/cache/origin"
)

// recheck is the longest sleep of the runner. Timers stop while a machine is suspended and do not follow a set clock.
const recheck = 10 * time.Second

// Request is a request for runs outside of the schedule.
type Request struct {
	Views []string // if empty, all
	Full  bool     // render everything and compare it with the stored rows
	Force bool     // publish even if a view shrinks more than permitted
}

func (q Request) run() runRequest {
	return runRequest{now: true, full: q.Full, force: q.Force}
}

// Trigger requests runs without waiting for them. Pending requests are coalesced; a request during a run of its view
// causes another run after it. The error is ErrUnknownView for a view without a job, and ErrStandby if this Runner
// does not hold the lease: then no run follows.
func (r *Runner) Trigger(q Request) error {
	jobs, err := r.jobs(q.Views)
	if err == nil {
		err = r.enqueue(jobs, q.run())
	}
	if err == nil {
		r.lookForChanges()
	}
	return err
}

// lookForChanges has collections that kept answers depend on compared now: an operator who asks for runs has just
// changed records.
func (r *Runner) lookForChanges() {
	if m := r.marker.Load(); m != nil {
		m.note(func() { m.all = true })
	}
}

// Refresh is Trigger, but waits for the runs, and returns one outcome each, in the order of Options.Jobs. If ctx ends
// first, it returns its cause, and the runs continue. If the lease is lost before all runs have begun, or the Runner
// ends, it returns ErrStandby. In both cases it also returns the outcomes so far.
func (r *Runner) Refresh(ctx context.Context, q Request) (outcomes []Outcome, err error) {
	jobs, err := r.jobs(q.Views)
	if err != nil {
		return nil, err
	}
	runs := make([]chan Outcome, len(jobs))
	for i := range runs {
		runs[i] = make(chan Outcome, 1)
	}
	if err := r.enqueue(jobs, q.run(), runs...); err != nil {
		return nil, err
	}
	r.lookForChanges()
	for _, run := range runs {
		select {
		case out, ok := <-run:
			if !ok {
				return outcomes, ErrStandby
			}
			outcomes = append(outcomes, out)
		case <-ctx.Done():
			return outcomes, context.Cause(ctx)
		}
	}
	return outcomes, nil
}

// Leader returns the instance that runs the jobs of a store, or did until it died. It returns "" if there is none.
func Leader(ctx context.Context, leases origin.Leases) (string, error) {
	return leases.Holder(ctx, leaseName)
}

// enqueue adds a request for a run of each job. Each job's channel in outcomes, if given, gets its outcome.
func (r *Runner) enqueue(jobs []Job, request runRequest, outcomes ...chan Outcome) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.leading {
		return ErrStandby
	}
	for i, job := range jobs {
		if len(outcomes) > 0 {
			request.waiting = []chan<- Outcome{outcomes[i]}
		}
		r.requests[job.View] = r.requests[job.View].with(request)
	}
	select {
	case r.wake <- struct{}{}:
	default: // a signal is already pending
	}
	return nil
}

// lead sets whether requests are accepted. It drops pending ones: a request to force a view must not be fulfilled
// days later, when this instance gets the lease again.
func (r *Runner) lead(leading bool) {
	r.mu.Lock()
	r.leading = leading
	for _, request := range r.requests {
		for _, waiting := range request.waiting {
			close(waiting)
		}
	}
	clear(r.requests)
	r.mu.Unlock()
	if r.o.Observer.Leading != nil {
		r.o.Observer.Leading(leading)
	}
}

// work runs jobs, one after another, until ctx ends: each at once, then as scheduled and requested.
func (r *Runner) work(ctx context.Context, lease heldLease) {
	r.o.Log.InfoContext(ctx, "materializing", "holder", r.o.Holder, "token", lease.Token)
	var beside sync.WaitGroup
	beside.Go(func() { r.watch(ctx) })
	defer beside.Wait()
	if r.o.Keeper != nil {
		m := newMarker(&r.o, lease.Lease, lease.end)
		r.marker.Store(m)
		defer r.marker.Store(nil)
		beside.Go(func() { m.run(ctx) })
	}
	r.lead(true)
	defer r.lead(false)
	if r.o.Before != nil {
		r.o.Before(ctx)
	}

	// One goroutine runs all jobs: their indexes have no lock, and a summary uses what the run of activities before
	// it has read.
	a := r.newAgenda()
	refreshing := false
	for ctx.Err() == nil {
		r.enqueueFull(ctx, a)
		for _, t := range a.tasks {
			r.runDue(ctx, lease, a, t)
		}
		if ctx.Err() == nil {
			r.fenced.Reset()                      // the store has accepted a run of each job
			if r.o.Keeper != nil && !refreshing { // not earlier, because new generations make answers stale
				refreshing = true
				beside.Go(func() { (&refresher{&r.o}).run(ctx) })
			}
		}
		select {
		case <-r.wake:
		case <-time.After(a.wait(r.look(ctx, a))):
		case <-ctx.Done():
		}
	}
	if cause := context.Cause(ctx); errors.Is(cause, origin.ErrFenced) {
		r.o.Log.WarnContext(ctx, "materializing ended: lease lost, or its token is not the newest", "error", cause)
	} else {
		r.o.Log.InfoContext(ctx, "materializing ended")
	}
}

// now returns the wall clock's time, without a monotonic reading.
func (r *Runner) now() time.Time { return r.o.Now().Round(0) }

// agenda has the tasks of a term, and the clock by which they are due. Only work's goroutine uses it.
type agenda struct {
	clock   *wallClock
	tasks   []*task
	fullDue time.Time // the next full run; zero if there is none
}

// newAgenda returns the jobs, which are due at once, and when the full run is due.
func (r *Runner) newAgenda() *agenda {
	now := r.now()
	a := &agenda{clock: &wallClock{now: r.now, shown: now, at: time.Now()}, fullDue: r.full.Next(now)}
	for _, job := range r.o.Jobs {
		schedule := r.schedules[job.View]
		t := &task{
			job: job, schedule: schedule, next: schedule.Next(now), pending: runRequest{now: true},
			pauses: newPauses(),
		}
		a.tasks = append(a.tasks, t)
		r.reportDue(t, now)
	}
	return a
}

// look returns the wall clock's time. If the clock was set since the last look, look updates every time of the
// agenda. Nothing else may read the clock for the agenda: a time from after such a step would make the skipped hours
// count as missed.
func (r *Runner) look(ctx context.Context, a *agenda) (now time.Time) {
	by := a.clock.step()
	now = a.clock.shown
	if by == 0 {
		return now
	}
	r.o.Log.WarnContext(ctx, "the clock was set: schedules computed again", "by", by)
	a.fullDue = r.full.anew(a.fullDue, now)
	for _, t := range a.tasks {
		t.clockSet(now, by)
		r.reportDue(t, now)
	}
	return now
}

func (r *Runner) reportDue(t *task, now time.Time) {
	if t.schedule != nil && r.o.Observer.Due != nil {
		r.o.Observer.Due(t.job.View, t.due(now).Sub(now))
	}
}

// enqueueFull requests a full run of every job if it is due. Several missed times count as one.
func (r *Runner) enqueueFull(ctx context.Context, a *agenda) {
	now := r.look(ctx, a)
	if a.fullDue.IsZero() || a.fullDue.After(now) {
		return
	}
	// cannot fail: this Runner leads until its caller ends that
	_ = r.enqueue(r.o.Jobs, runRequest{now: true, full: true})
	a.fullDue = r.full.Next(now)
}

// runDue runs a task if it is due. Scheduled times that pass meanwhile, or while waiting after an error, are missed.
func (r *Runner) runDue(ctx context.Context, lease heldLease, a *agenda, t *task) {
	if ctx.Err() != nil {
		return // keep the request: lead drops it and answers the waiting callers
	}
	now := r.look(ctx, a)
	r.mu.Lock()
	t.pending = t.pending.with(r.requests[t.job.View])
	delete(r.requests, t.job.View)
	r.mu.Unlock()
	due := t.due(now)
	if due.IsZero() || due.After(now) {
		return
	}
	missed := max(t.pass(now)-1, 0)
	request := t.pending
	t.pending = runRequest{}
	r.reportDue(t, now)
	out := r.build(ctx, lease, t.job, request, nil)
	for _, waiting := range request.waiting {
		waiting <- out
	}
	now = r.look(ctx, a)
	missed += t.pass(now)
	if missed > 0 && r.o.Observer.Missed != nil {
		r.o.Observer.Missed(t.job.View, missed)
	}
	t.finish(out, request, now)
	r.reportDue(t, now)
	r.log(ctx, out)
	t.empty = r.warnOfEmpty(ctx, t.job, out, t.empty)
	t.findings = r.logFindings(ctx, out, t.findings)
}

// wait returns how long after now nothing is due.
func (a *agenda) wait(now time.Time) time.Duration {
	wait := recheck
	if !a.fullDue.IsZero() {
		wait = min(wait, a.fullDue.Sub(now))
	}
	for _, t := range a.tasks {
		if due := t.due(now); !due.IsZero() {
			wait = min(wait, due.Sub(now))
		}
	}
	return max(wait, 0)
}

// log writes one record per run, at level debug if nothing has changed.
func (r *Runner) log(ctx context.Context, out Outcome) {
	level := slog.LevelInfo
	switch {
	case out.Result == Failed || out.Drifted:
		level = slog.LevelError
	case out.Result == Stopped: // on request, or because the lease was lost, which work logs
	case out.Result == Held || out.Err != nil || out.Skipped > 0 || out.Missing > 0:
		level = slog.LevelWarn
	case out.Result == Unchanged:
		level = slog.LevelDebug
	}
	attrs := []slog.Attr{
		slog.String("view", out.View), slog.String("result", string(out.Result)), slog.Bool("full", out.Full),
		slog.Uint64("generation", out.Meta.Generation), slog.Int("rows", out.Meta.Rows),
		slog.Int("scanned", out.Scanned), slog.Int("rendered", out.Rendered), slog.Int("changed", out.Changed),
		slog.Int("removed", out.Removed), slog.Duration("took", out.Took),
	}
	if out.Skipped > 0 {
		attrs = append(attrs, slog.String("skipped", out.skipText()))
	}
	if out.Missing > 0 {
		attrs = append(attrs, slog.Int("missing_from_store", out.Missing))
	}
	if out.Err != nil {
		attrs = append(attrs, slog.String("error", out.Err.Error()))
	}
	if panicked, ok := errors.AsType[*panicError](out.Err); ok {
		attrs = append(attrs, slog.String("stack", string(panicked.stack)))
	}
	r.o.Log.LogAttrs(ctx, level, "run", attrs...)
}

// warnOfEmpty warns of a run that found no records in its job's source, because the name of the store may be
// mistyped, and reports whether it was empty. warned says that the previous run has warned.
func (r *Runner) warnOfEmpty(ctx context.Context, job Job, out Outcome, warned bool) bool {
	switch {
	case out.Unread || out.Result == Failed || out.Result == Stopped:
		return warned // the run does not tell
	case out.Scanned > 0 || job.Optional:
		return false
	case !warned:
		r.o.Log.WarnContext(ctx, "source is empty: is this the right store?", "view", job.View, "collection",
			job.Source)
	}
	return true
}

// logFindings logs what records lack, unless the last run has logged the same, and returns it.
func (r *Runner) logFindings(ctx context.Context, out Outcome, logged []string) []string {
	now := out.Findings()
	if out.Records == nil || slices.Equal(now, logged) {
		return logged
	}
	level := slog.LevelInfo
	if out.Records.Fault() {
		level = slog.LevelWarn
	}
	for _, finding := range now {
		if !slices.Contains(logged, finding) {
			r.o.Log.Log(ctx, level, "records", "view", out.View, "collection", out.Records.Collection, "finding",
				finding)
		}
	}
	return now
}
