package materialize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"vitrine/cache/kept"
	"vitrine/cache/origin"
	"vitrine/rules/backoff"
)

// Errors of a Runner. Compare with errors.Is.
var (
	// ErrStandby: another instance holds the lease and runs the jobs.
	ErrStandby = errors.New("another instance materializes")
	// ErrUnknownView: no job makes that view.
	ErrUnknownView = errors.New("unknown view")
)

// Runner runs jobs under the store's lease. One goroutine may call Run and RunOnce, any the other methods.
type Runner struct {
	o         Options
	schedules map[string]*Schedule // by view; nil if there is none
	full      *Schedule            // nil if there is none
	settings  []string             // collections of settings, see Job.Settings
	// index of the last run by view, or nil; used only by Run or RunOnce's goroutine
	kept     map[string]*rowIndex
	lastMeta map[string]origin.Meta // last meta by view, with the counts of its last good run; used like kept
	fenced   *backoff.Exponential   // pauses after terms that were fenced before each job had run; used like kept
	wake     chan struct{}          // of capacity one: signals that requests is not empty
	streams  uint64                 // change streams opened so far; only used by watch
	marker   atomic.Pointer[marker] // of the present term; nil if there is none
	// number of the open change stream, which reports all changes; 0 if none is open
	stream atomic.Uint64

	mu       sync.Mutex            // guards the fields below
	leading  bool                  // Run holds the lease
	requests map[string]runRequest // requests by view that no run has answered yet
}

// New checks options and returns a Runner that does not run yet.
func New(o Options) (*Runner, error) {
	o = o.defaults()
	r := &Runner{
		o: o, schedules: map[string]*Schedule{}, kept: map[string]*rowIndex{}, lastMeta: map[string]origin.Meta{},
		wake: make(chan struct{}, 1), requests: map[string]runRequest{}, fenced: newPauses(),
	}
	var err error
	for _, job := range o.Jobs {
		r.settings = append(r.settings, job.Settings...)
		if spec := o.Schedule[job.View]; spec != "" {
			if r.schedules[job.View], err = ParseSchedule(spec, o.Location); err != nil {
				return nil, fmt.Errorf("view %s: %w", job.View, err)
			}
		}
	}
	if o.Full != "" {
		if r.full, err = ParseSchedule(o.Full, o.Location); err != nil {
			return nil, fmt.Errorf("full run: %w", err)
		}
	}
	if o.Lease <= 0 { // it would be renewed without a pause, and never be held
		return nil, errors.New("materialize: a runner needs the term of its lease")
	}
	return r, nil
}

// Run waits for the lease, runs every job once and then on its schedule. If it loses the lease, it waits for it
// again. If the store refuses a write although Run holds the lease, Run releases the lease, and takes it again with a
// token that exceeds those of all metas. It returns nil when ctx ends, after everything that it started has ended and
// the lease is released.
func (r *Runner) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		lease, err := r.acquire(ctx, forever)
		if err != nil {
			break // ctx has ended: an endless wait ends for no other reason
		}
		if cause := r.withLease(ctx, lease, r.work); !errors.Is(cause, origin.ErrFenced) {
			continue
		}
		// Pause, so that a waiting instance gets the lease first. The pause grows, in case two instances fence each
		// other.
		_ = backoff.Sleep(ctx, r.fenced.NextBackOff()) // its error is that ctx has ended
	}
	return nil
}

// Holder returns the name under which this Runner takes the lease.
func (r *Runner) Holder() string { return r.o.Holder }

// jobs returns the jobs of views in the order in which they run. Without views it returns all jobs.
func (r *Runner) jobs(views []string) ([]Job, error) {
	var all []string
	for _, job := range r.o.Jobs {
		all = append(all, job.View)
	}
	for _, view := range views {
		if !slices.Contains(all, view) {
			return nil, fmt.Errorf("%w: %q; want one of %s", ErrUnknownView, view, strings.Join(all, ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(r.o.Jobs),
		func(job Job) bool { return len(views) > 0 && !slices.Contains(views, job.View) }), nil
}

// build runs one job once for a request and reports it to the observer. If the store refuses a write of the run,
// build ends the work under the lease: the store would refuse the following runs, too.
func (r *Runner) build(
	ctx context.Context, lease heldLease, job Job, request runRequest, progress func(Progress),
) Outcome {
	b := &build{
		o: &r.o, kept: r.kept, lastMeta: r.lastMeta, job: job, lease: lease.Lease,
		full: request.full, progress: progress,
		guard:     shrinkGuard{max: r.o.MaxShrink, forced: request.force, now: r.now(), settings: r.settings},
		scheduled: !request.now && !request.changed && !request.full, watched: r.stream.Load(),
	}
	out := b.run(ctx)
	if b.index != nil && b.index.tally != nil && b.index.tally.Changed() {
		summaries := slices.DeleteFunc(slices.Clone(r.o.Jobs), func(j Job) bool { return j.Summarize == nil })
		_ = r.enqueue(summaries, runRequest{tallyChanged: true}) // ignore ErrStandby: RunOnce runs them itself
	}
	if finished := r.o.Observer.Finished; finished != nil {
		finished(out)
	}
	if out.fenced() {
		lease.end(out.Err)
	}
	return out
}

// RunOnce runs the jobs of the requested views once, in the order of Options.Jobs, and returns one outcome each.
// progress may be nil; it is called after every batch, and with Done when a view is finished.
//
// It waits for the lease for one and a half times its term, in which that of a killed instance expires; with a live
// one it returns an error that wraps origin.ErrLeaseHeld. Other errors: ErrUnknownView, the store's, or the cause for
// which ctx ended or the lease was lost, with the outcomes so far. Errors of single runs are only in the outcomes.
func (r *Runner) RunOnce(ctx context.Context, q Request, progress func(Progress)) ([]Outcome, error) {
	jobs, err := r.jobs(q.Views)
	if err != nil {
		return nil, err
	}
	lease, err := r.acquire(ctx, r.o.Lease*3/2)
	if err != nil {
		return nil, err
	}
	var outcomes []Outcome
	_ = r.withLease(ctx, lease, func(ctx context.Context, lease heldLease) {
		for _, job := range jobs {
			out := r.build(ctx, lease, job, q.run(), progress)
			outcomes = append(outcomes, out)
			r.warnOfEmpty(ctx, job, out, false)
			if out.Result == Stopped || out.fenced() {
				err = fmt.Errorf("materialize view %s: %w", job.View, out.Err)
				return
			}
		}
	})
	return outcomes, err
}

// RefreshKept marks changes and refreshes the kept answers of all rules that have a schedule, once, under the lease,
// for which it waits like RunOnce. It returns the runs by rule, also those before an error.
func (r *Runner) RefreshKept(ctx context.Context) (runs map[string]kept.Run, err error) {
	lease, err := r.acquire(ctx, r.o.Lease*3/2)
	if err != nil {
		return nil, err
	}
	lost := r.withLease(ctx, lease, func(ctx context.Context, lease heldLease) {
		newMarker(&r.o, lease.Lease, lease.end).once(ctx)
		if err = r.o.Keeper.Read(ctx); err == nil {
			runs, err = (&refresher{&r.o}).once(ctx)
		}
	})
	return runs, cmp.Or(err, lost)
}
