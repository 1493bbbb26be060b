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

// changeTime is the longest time that a change may take to become visible.
const changeTime = 5 * time.Minute

// Serving is the service of a front end under measurement: it reports what the process has used,
// and changes records of its store. Only the serving process itself can change an embedded store
// and see when a snapshot is shown. What it waits for ends with Context: calls bring none.
type Serving struct {
	Context context.Context
	Views   *view.Set
	Store   origin.Store
	Trigger func(view string) error // runs a view's job now, without waiting for it
	Settled <-chan struct{}         // closed when every view is loaded and every job has run
}

// Memory replies the memory that the process needs, without garbage, and the size of the views.
func (s *Serving) Memory(_ struct{}, reply *Memory) error {
	debug.FreeOSMemory()
	if self, err := procfs.Self(); err == nil { // Linux alone has it
		if status, err := self.NewStatus(); err == nil {
			reply.Own = int64(status.RssAnon)
		}
	}
	for _, st := range s.Views.Status() {
		reply.Rows += st.RowBytes
		reply.Indexes += st.IndexBytes
	}
	return nil
}

// Settle returns when only requests keep the process busy.
func (s *Serving) Settle(struct{}, *struct{}) error {
	select {
	case <-s.Settled:
		return nil
	case <-s.Context.Done():
		return s.Context.Err()
	}
}

// Change says what to change: Count records, spread over all, to what differs by Serial, which
// must not have been used on the store before.
type Change struct{ Count, Serial int }

// Changed holds the times of a change.
type Changed struct {
	Started   time.Time // the job was asked to run; it was idle
	Published time.Time // the store's new generation was committed
	Visible   time.Time // requests were answered from it
}

// Change changes records in the store, runs the job, and replies when the change is visible.
func (s *Serving) Change(c Change, reply *Changed) error {
	before, err := s.Views.Snapshot(rules.ViewActivities)
	if err != nil {
		return err
	}
	edited, err := s.edit(max(before.Meta().Rows/max(c.Count, 1), 1), c)
	if err != nil {
		return err
	}
	if _, err := s.Store.Upsert(s.Context, collectionActivities, edited); err != nil {
		return err
	}
	reply.Started = time.Now()
	if err := s.Trigger(rules.ViewActivities); err != nil {
		return err
	}
	for time.Since(reply.Started) < changeTime {
		now, err := s.Views.Snapshot(rules.ViewActivities)
		if err != nil {
			return err
		}
		if now.Meta().Generation != before.Meta().Generation {
			reply.Visible, reply.Published = time.Now(), now.Meta().Published
			return nil
		}
		if err := pause(s.Context, time.Millisecond); err != nil {
			return err
		}
	}
	return fmt.Errorf("%d changed records are not visible after %s", len(edited), changeTime)
}

// edit reads every so many records of the store, and returns them changed.
func (s *Serving) edit(every int, c Change) (changed []bson.Raw, err error) {
	scanned := 0
	picked := func(bson.Raw) bool { scanned++; return scanned%every == 0 && scanned/every <= c.Count }
	for record, err := range s.Store.Sift(s.Context, collectionActivities, picked) {
		if err == nil {
			record, err = edited(record, c.Serial)
		}
		if err != nil {
			return nil, err
		}
		changed = append(changed, record)
	}
	return changed, nil
}
