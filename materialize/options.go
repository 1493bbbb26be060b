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

	"vitrine/cache/kept"
	"vitrine/cache/origin"
	"vitrine/configs"
)

// Store is the part of an origin.Store that this package uses.
type Store interface {
	Scan(ctx context.Context, collection string) iter.Seq2[bson.Raw, error]
	Sift(ctx context.Context, collection string, want func(doc bson.Raw) bool) iter.Seq2[bson.Raw, error]
	Find(ctx context.Context, collection string, q origin.Query) iter.Seq2[bson.Raw, error]
	origin.Views
	origin.Leases
}

// Keeper keeps answers of the other server by rule; *kept.Keeper implements it.
type Keeper interface {
	Rules() []*kept.Rule
	Read(ctx context.Context) error
	Refresh(ctx context.Context, rule *kept.Rule, warm []string, p kept.Pass) (kept.Run, error)
}

// MarkStore keeps marks for all processes: when collections that kept answers depend on have changed.
type MarkStore interface {
	origin.Versioner
	Marks(ctx context.Context) (marks origin.Marks, latest uint64, err error)
	SetMarks(ctx context.Context, lease origin.Lease, m origin.Marks) error
}

// Options configure a Runner. Store, Jobs and Lease are required.
type Options struct {
	Store Store
	// Jobs run in this order when several are due.
	Jobs []Job
	// Materialize has the settings. A view without a spec in Schedule is made only at the start, by Trigger and by
	// full runs. MaxShrink also bounds how many records of a collection that rows are made from may disappear. Lease
	// is required: how long a killed instance keeps others from working.
	configs.Materialize
	// Now is the clock of the schedules, which may be set at any time. If nil, time.Now is used.
	Now func() time.Time
	// Location is the time zone of the schedules. If nil, UTC is used.
	Location *time.Location
	// Holder names this instance as the holder of the lease, and must be unique. If empty, host, process id and a
	// random part are used. For a store that only one process can open, use a fixed name: the successor of a killed
	// process then need not wait for the lease to expire.
	Holder string
	// Batch is how many rows are written at once. If 0, it is 500.
	Batch int
	// Watcher reports changed source collections, so that their jobs run at once. Scheduled runs read nothing unless
	// it has reported a change. If nil, or if it does not support watching, jobs run on their schedule only.
	Watcher origin.Watcher
	// Versioner identifies what a run would read, so that a scheduled run does not read the same again. If it is not
	// exact, it notices updates by ChangedField. May be nil.
	Versioner origin.Versioner
	// Before is called when Run has acquired the lease, before the first jobs, and ends with its context. May be nil.
	Before func(context.Context)
	// OnPublish is called with every new generation, and delays the next job, so it should return soon. May be nil.
	OnPublish func(origin.Meta)
	// CurrentMeta returns the meta and the number of rows of a view that this process's own front end shows. The meta
	// is zero if it shows none. If the store has lost the view with the counts of earlier runs, a run compares with
	// these rows. May be nil.
	CurrentMeta func(view string) (at origin.Meta, rows int)
	// Keeper refreshes the answers of the other server that are kept by rule. If nil, none are kept.
	Keeper Keeper
	// Marks records changes of collections that kept answers depend on. Required if there is a Keeper.
	Marks MarkStore
	// Observer gets events about runs, for metrics. Its functions may be nil.
	Observer Observer
	// Log gets one record for each run of Run. If nil, slog.Default is used.
	Log *slog.Logger
}

// Observer gets the events of a Runner. One goroutine at a time calls each function, which may be nil; Refreshed may
// run beside the others.
type Observer struct {
	// Finished is called with the outcome of every run.
	Finished func(Outcome)
	// Missed is called with how many of a view's scheduled times passed during its run, or a wait after an error.
	Missed func(view string, slots int)
	// Due is called with the time until the next run of a view with a schedule, whenever that changes, in the leader.
	Due func(view string, in time.Duration)
	// Refreshed is called with the outcome of every refresh of a rule for kept answers.
	Refreshed func(rule string, run kept.Run, err error)
	// Leading is called when the lease was acquired (true) or released (false).
	Leading func(bool)
}

// InstanceName returns a name for this process, with a random part, by which people recognise it in a store.
func InstanceName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s/%d/%s", host, os.Getpid(), rand.Text()[:8])
}

func (o Options) defaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Holder == "" {
		o.Holder = InstanceName()
	}
	o.Batch = cmp.Or(max(o.Batch, 0), 500)
	o.Log = cmp.Or(o.Log, slog.Default())
	return o
}
