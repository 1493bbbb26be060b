package materialize

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
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
	// are ignored, so that one configuration serves every set of jobs.
	Schedule map[string]string
	// FullSchedule is the cron spec of the full run of all jobs. If empty, there is none.
	FullSchedule string
	// Now is the clock that schedules go by, which may be set at any time. If nil,
	// time.Now is used.
	Now func() time.Time
	// Location is the time zone of the schedules. If nil, UTC is used.
	Location *time.Location
	// MaxShrink is the share of a view's rows, 0 to 1, that one run, or all runs of a day, may
	// remove without being forced. It also bounds how many records of a collection that rows
	// are made from may be gone. If 0, there is no bound.
	MaxShrink float64
	// Holder names this instance as the holder of the lease; no two instances at
	// work may have the same. If empty, host, process id and a random part are used.
	// For a store that only one process can open a fixed name is right: the process that
	// follows a killed one then need not wait for its lease to run out.
	Holder string
	// LeaseTTL is after how long a lease that is not renewed runs out, and with it
	// how long a killed instance keeps the others from working. If 0, 30 s are used.
	LeaseTTL time.Duration
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
	// job was still running, or waiting after an error. No runs replace them.
	Missed func(view string, slots int)
	// Due is called with the time until the next run of a view with a schedule, whenever
	// that changes while this Runner holds the lease.
	Due func(view string, in time.Duration)
	// Leading is called when the lease was acquired (true) or released (false).
	Leading func(bool)
}

// defaults returns the options with defaults for zero fields.
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
	o.Log = cmp.Or(o.Log, slog.Default())
	return o
}
