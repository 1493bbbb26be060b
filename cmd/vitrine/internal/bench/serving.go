package bench

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/prometheus/procfs"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/view"
	"vitrine/rules"
)

// changeTime is how long a change may take to become visible.
const changeTime = 5 * time.Minute

// Serving is a measured front end: it reports the memory of the process, and changes records of its store. Only the
// serving process itself can change an embedded store.
type Serving struct {
	Views   *view.Set
	Store   origin.Store
	Trigger func(view string) error // runs a view's job now, without waiting for it
	Settled <-chan struct{}         // closed when every view is loaded and every job has run
}

// Answer answers the parent's questions: it changes records, or returns the memory if there are
// none to change.
func (s *Serving) Answer(ctx context.Context, c Change) (any, error) {
	if len(c.Records) == 0 {
		return s.memory(ctx)
	}
	return s.change(ctx, c)
}

// Memory is the memory of the serving process after a garbage collection.
type Memory struct {
	Rows, Indexes int64 // BSON of all views, and their path indexes
	Own           int64 // resident memory without file pages; 0 if the system does not report it
}

// memory returns the memory that the process needs, once only requests keep it busy.
func (s *Serving) memory(ctx context.Context) (m Memory, err error) {
	select {
	case <-s.Settled:
	case <-ctx.Done():
		return m, ctx.Err()
	}
	debug.FreeOSMemory()
	if self, err := procfs.Self(); err == nil { // only on Linux
		if status, err := self.NewStatus(); err == nil {
			m.Own = int64(status.RssAnon)
		}
	}
	for _, st := range s.Views.Status() {
		m.Rows += st.RowBytes
		m.Indexes += st.IndexBytes
	}
	return m, nil
}

// Change has the records to store.
type Change struct{ Records []bson.Raw }

// Changed has the durations of a change, from the request for its job.
type Changed struct {
	Publish time.Duration // until the commit of the store's new generation
	Visible time.Duration // until requests are answered from it
}

// change stores records, runs the job, and returns when the change is visible.
func (s *Serving) change(ctx context.Context, c Change) (took Changed, err error) {
	before, err := s.Views.Snapshot(rules.ViewActivities)
	if err != nil {
		return took, err
	}
	if _, err := s.Store.Upsert(ctx, collectionActivities, c.Records); err != nil {
		return took, err
	}
	started := time.Now()
	if err := s.Trigger(rules.ViewActivities); err != nil {
		return took, err
	}
	for time.Since(started) < changeTime {
		now, err := s.Views.Snapshot(rules.ViewActivities)
		if err != nil {
			return took, err
		}
		if now.Meta().Generation != before.Meta().Generation {
			return Changed{Publish: now.Meta().Published.Sub(started), Visible: time.Since(started)}, nil
		}
		if err := pause(ctx, time.Millisecond); err != nil {
			return took, err
		}
	}
	return took, fmt.Errorf("%d changed records are not visible after %s", len(c.Records), changeTime)
}
