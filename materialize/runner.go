package materialize

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
)

// Errors of a Runner. Compare with errors.Is.
var (
	// ErrStandby: another instance holds the lease and does the work.
	ErrStandby = errors.New("another instance materializes")
	// ErrUnknownView: there is no job for that view.
	ErrUnknownView = errors.New("unknown view")
)

// Store is what materializing needs of an origin.Store.
type Store interface {
	Scan(ctx context.Context, collection string) iter.Seq2[bson.Raw, error]
	Sift(ctx context.Context, collection string, want func(doc bson.Raw) bool) iter.Seq2[bson.Raw, error]
	origin.Views
	origin.Leases
}

// Options configure a Runner. All but Store and Jobs may be left zero.
type Options struct {
	Store Store
	// Jobs run in this order when several are due.
	Jobs []Job
	// Schedule gives a view's cron spec. A view without one, or with an empty one,
	// is made at the start, on Trigger and by full runs only. Views without a job
	// are passed over, so that one configuration serves every set of jobs.
	Schedule map[string]string
	// FullSchedule is the cron spec of the full run of all jobs. If empty, there is none.
	FullSchedule string
	// Now is the clock that schedules go by, which may be set at any time. If nil,
	// time.Now is used.
	Now func() time.Time
	// Location is where the clock of the schedules hangs. If nil, UTC is used.
	Location *time.Location
	// MaxShrink is the share of a view's rows, 0 to 1, that may go without a run being
	// forced: with one run, or within a day; and likewise of the records of a collection
	// that rows are made from. If 0, any may go.
	MaxShrink float64
	// Holder names this instance as the holder of the lease; no two instances at
	// work may have the same. If empty, host, process id and a random part are used.
	// For a store that only one process can open a fixed name is right: who comes
	// after a killed process then need not wait for its lease to run out.
	Holder string
	// LeaseTTL is after how long a lease that is not renewed runs out, and with it
	// how long a killed instance keeps the others from working. If 0, 30 s are used.
	LeaseTTL time.Duration
	// Workers bounds the goroutines that render. If 0, there is one per processor.
	Workers int
	// Batch is how many rows are written at once. If 0, 500 are used.
	Batch int
	// Watcher reports changed source collections, so that their jobs run at once.
	// If nil, or if it does not support watching, jobs run on their schedule only.
	Watcher origin.Watcher
	// Before is called when Run has taken the lease; the first jobs run when it returns,
	// which it must when its context ends. If nil, they run at once.
	Before func(context.Context)
	// OnPublish is called with every new generation as soon as readers can see it. It
	// delays the next job, so it should return soon. If nil, it is not called.
	OnPublish func(origin.Meta)
	// Observer is called about runs, for metrics. Its funcs may be nil.
	Observer Observer
	// Log gets one record per run that Run makes. If nil, slog.Default is used.
	Log *slog.Logger
}

// Observer follows a Runner. Each of its funcs is called by one goroutine at a time, may
// be nil, and should return quickly.
type Observer struct {
	// Finished is called with the outcome of every run.
	Finished func(Outcome)
	// Missed is called with the number of a view's scheduled times that passed while its
	// job was still running, or waiting after an error: they are not made up for.
	Missed func(view string, slots int)
	// Due is called with the time until the next run of a view with a schedule, whenever
	// that changes while this Runner holds the lease.
	Due func(view string, in time.Duration)
	// Leading is called when the lease was acquired (true) or given up (false).
	Leading func(bool)
}

// defaults fills in what is zero.
func (o Options) defaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Holder == "" {
		host, err := os.Hostname()
		if err != nil {
			host = "unknown"
		}
		o.Holder = fmt.Sprintf("%s/%d/%s", host, os.Getpid(), rand.Text()[:8])
	}
	o.LeaseTTL, o.Batch = cmp.Or(max(o.LeaseTTL, 0), 30*time.Second), cmp.Or(max(o.Batch, 0), 500)
	o.Workers = cmp.Or(max(o.Workers, 0), runtime.GOMAXPROCS(0))
	o.Log = cmp.Or(o.Log, slog.Default())
	return o
}

// Runner runs jobs under the store's lease, on schedules or once. Run and RunOnce belong to
// one goroutine, its other methods are safe for concurrent use.
type Runner struct {
	o         Options
	schedules map[string]*Schedule // by view; nil: none
	full      *Schedule            // nil: none
	kept      map[string]*rowIndex // by view: of the last run, or nil; only used by the goroutine of Run or RunOnce
	wake      chan struct{}        // of capacity one: there is something in requests

	mu       sync.Mutex            // guards the fields below
	leading  bool                  // Run holds the lease
	requests map[string]runRequest // by view: those that no run has taken up yet
}

// New checks options and returns a Runner that is not at work yet.
func New(o Options) (*Runner, error) {
	o = o.defaults()
	r := &Runner{
		o:         o,
		schedules: map[string]*Schedule{},
		kept:      map[string]*rowIndex{},
		wake:      make(chan struct{}, 1),
		requests:  map[string]runRequest{},
	}
	var err error
	for _, job := range o.Jobs {
		if spec := o.Schedule[job.View]; spec != "" {
			if r.schedules[job.View], err = ParseSchedule(spec, o.Location); err != nil {
				return nil, fmt.Errorf("view %s: %w", job.View, err)
			}
		}
	}
	if o.FullSchedule != "" {
		if r.full, err = ParseSchedule(o.FullSchedule, o.Location); err != nil {
			return nil, fmt.Errorf("full run: %w", err)
		}
	}
	return r, nil
}

// Run waits for the lease, runs every job once and then on its schedule, and goes
// back to waiting should the lease be lost. It returns nil when ctx ends, after
// everything it started has ended and the lease is given back.
func (r *Runner) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		lease, err := r.acquire(ctx, forever)
		if err != nil {
			break // ctx ended: nothing else ends a wait without limit
		}
		r.hold(ctx, lease, r.work)
	}
	return nil
}

// jobs returns the jobs of views in the order in which they run; all for none.
func (r *Runner) jobs(views []string) ([]Job, error) {
	var all []string
	var jobs []Job
	for _, job := range r.o.Jobs {
		all = append(all, job.View)
		if len(views) == 0 || slices.Contains(views, job.View) {
			jobs = append(jobs, job)
		}
	}
	for _, view := range views {
		if !slices.Contains(all, view) {
			return nil, fmt.Errorf("%w: %q; there are %s", ErrUnknownView, view, strings.Join(all, ", "))
		}
	}
	return jobs, nil
}

// build runs one job once and reports it to the observer.
func (r *Runner) build(ctx context.Context, lease origin.Lease, job Job, full, force bool, progress func(Progress)) Outcome {
	b := &build{
		Options: &r.o, kept: r.kept, job: job, lease: lease, full: full, progress: progress,
		guard: shrinkGuard{max: r.o.MaxShrink, forced: force, now: r.now()},
	}
	out := b.run(ctx)
	if finished := r.o.Observer.Finished; finished != nil {
		finished(out)
	}
	return out
}

// RunOnce runs the jobs of the requested views once, in the order of Options.Jobs, and
// returns one outcome each. Progress may be nil; it is called by one goroutine at a
// time, after every batch, and with Done when a view is finished.
//
// It waits one and a half times the lease's term for the lease, and logs that it waits:
// an instance that was killed cannot give its lease back, which then passes on when it
// was silent for a whole term; one that is alive renews it, and that is an error that
// wraps origin.ErrLeaseHeld. Other errors: ErrUnknownView,
// the store's, or the cause for which ctx ended or the lease was lost, then
// with the outcomes so far. Only the outcomes say how single runs went.
func (r *Runner) RunOnce(ctx context.Context, q Request, progress func(Progress)) ([]Outcome, error) {
	jobs, err := r.jobs(q.Views)
	if err != nil {
		return nil, err
	}
	lease, err := r.acquire(ctx, r.o.LeaseTTL*3/2)
	if err != nil {
		return nil, err
	}
	var outcomes []Outcome
	r.hold(ctx, lease, func(ctx context.Context, lease origin.Lease) {
		for _, job := range jobs {
			out := r.build(ctx, lease, job, q.Full, q.Force, progress)
			outcomes = append(outcomes, out)
			r.warnOfEmpty(ctx, job, out, false)
			if out.Result == Stopped {
				err = fmt.Errorf("materialize view %s: %w", job.View, out.Err)
				return
			}
		}
	})
	return outcomes, err
}
