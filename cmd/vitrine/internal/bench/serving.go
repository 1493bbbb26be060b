package bench

import (
	"fmt"
	"runtime/debug"
	"time"

	"github.com/prometheus/procfs"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/rules"
)

// changeTime is how long a change may take to become visible.
const changeTime = 5 * time.Minute

// Serving is a measured front end: it reports the memory of the process, and changes records of its store. Only the
// serving process itself can change an embedded store. The parent calls its methods.
type Serving struct {
	Views   *view.Set
	Upsert  func(collection string, records []bson.Raw) error // stores records
	Trigger func(view string) error                           // runs a view's job now, without waiting for it
	Settled <-chan struct{}                                   // closed when every view is loaded and every job has run
}

// Memory is the memory of the serving process after a garbage collection.
type Memory struct {
	Rows, Indexes int64 // BSON of all views, and their path indexes
	Own           int64 // resident memory without file pages; 0 if the system does not report it
}

// Memory returns the memory that the process needs, once only requests keep it busy.
func (s *Serving) Memory(_ struct{}, m *Memory) error {
	<-s.Settled
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
	return nil
}

// Change stores activities, runs their job, and returns when requests are answered from them: visible is how long after
// the request for the job.
func (s *Serving) Change(records []bson.Raw, visible *time.Duration) error {
	before, err := s.Views.Snapshot(rules.ViewActivities)
	if err != nil {
		return err
	}
	if err := s.Upsert(collectionActivities, records); err != nil {
		return err
	}
	started := time.Now()
	if err := s.Trigger(rules.ViewActivities); err != nil {
		return err
	}
	for time.Since(started) < changeTime {
		now, err := s.Views.Snapshot(rules.ViewActivities)
		if err != nil {
			return err
		}
		if now.Meta().Generation != before.Meta().Generation {
			*visible = time.Since(started)
			return nil
		}
		time.Sleep(time.Millisecond)
	}
	return fmt.Errorf("%d changed records are not visible after %s", len(records), changeTime)
}
