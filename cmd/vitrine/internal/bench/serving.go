package bench

import (
	"fmt"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/rules"
)

// changeTime is how long a change may take to become visible.
const changeTime = 10 * time.Minute

// Serving is a measured front end: it reports the memory of the process, and changes records of its store. Only the
// serving process itself can change an embedded store. The parent calls its methods.
type Serving struct {
	Views   *view.Set
	Upsert  func(collection string, records []bson.Raw) error // stores records
	Trigger func(view string, full bool) error                // runs a view's job now, without waiting for it
	// closed when every view is loaded and every job has run
	Settled <-chan struct{}
}

// Memory is the memory of the serving process after a garbage collection.
type Memory struct {
	Rows       int64         // BSON of all views, in bytes
	Own        int64         // resident memory without file pages; 0 if the system does not report it
	Collecting time.Duration // processor time of all collections so far, without what was idle otherwise
}

// Memory returns the memory that the process needs, once only requests keep it busy: it waits for the start to
// settle, and first returns the garbage of the start to the system. It is a method for net/rpc: its last parameter
// is the reply.
func (s *Serving) Memory(_ struct{}, m *Memory) error {
	<-s.Settled
	debug.FreeOSMemory()
	m.Own = ownMemory(os.Getpid())
	for _, st := range s.Views.Status() {
		m.Rows += st.RowBytes
	}
	gc := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"},
		{Name: "/cpu/classes/gc/mark/idle:cpu-seconds"}}
	metrics.Read(gc)
	m.Collecting = time.Duration((gc[0].Value.Float64() - gc[1].Value.Float64()) * float64(time.Second))
	return nil
}

// Change are records to store.
type Change struct {
	Records []bson.Raw
	Full    bool // whether the job renders all records
}

// Change stores activities, runs their job, and returns when requests are answered from them: visible is how long
// after the request for the job.
//
// It polls each millisecond instead of waiting for an event, because requests see a generation exactly when
// Snapshot returns it.
func (s *Serving) Change(c Change, visible *time.Duration) error {
	before, err := s.Views.Snapshot(rules.ViewActivities)
	if err != nil {
		return err
	}
	if err := s.Upsert(collectionActivities, c.Records); err != nil {
		return err
	}
	started := time.Now()
	if err := s.Trigger(rules.ViewActivities, c.Full); err != nil {
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
	return fmt.Errorf("%d changed records are not visible after %s", len(c.Records), changeTime)
}
