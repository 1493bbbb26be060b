package process

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/prometheus/procfs"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/view"
	"vitrine/cmd/vitrine/internal/bench/multiply"
	"vitrine/cmd/vitrine/internal/bench/report"
	"vitrine/rules"
)

// activities is the source collection of rules.ViewActivities.
const activities = "activities"

// changeTime is the longest time that a change may take to become visible.
const changeTime = 5 * time.Minute

// Options are what a Serving needs of the front end.
type Options struct {
	Addr    string // HOST:PORT of the public listener
	Views   *view.Set
	Store   origin.Store
	Trigger func(view string) error // runs a view's job now, without waiting for it
	Settled <-chan struct{}         // closed when every view is loaded and every job has run
}

// Serving is the service of a front end under measurement: it reports what the process has
// used, changes records of its store, and waits until a change is in its views. Only the
// serving process itself can change an embedded store and see when a snapshot is shown.
type Serving struct {
	endpoint
	o   Options
	ctx context.Context
}

// NewServing returns a service that stops waiting for anything when ctx ends: calls of a
// parent bring no context of their own.
func NewServing(ctx context.Context, o Options) *Serving {
	return &Serving{endpoint{o.Addr}, o, ctx}
}

// Memory replies the memory of the process as Loaded, and the size of the views. If collect
// is true, it frees garbage first and returns it to the system, so that Loaded is what the
// process needs.
func (s *Serving) Memory(collect bool, reply *report.Memory) error {
	if collect {
		debug.FreeOSMemory()
	}
	reply.Loaded = memoryOf()
	for _, st := range s.o.Views.Status() {
		reply.Rows += st.RowBytes
		reply.Indexes += st.IndexBytes
	}
	return nil
}

// Settle returns when every view is loaded and every job has run, so that only requests keep
// the process busy.
func (s *Serving) Settle(None, *None) error {
	select {
	case <-s.o.Settled:
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
}

// Change says what to change: Count records, spread over all, to what differs by
// Serial, which must not have been used on the store before.
type Change struct{ Count, Serial int }

// Changed holds the times of a change.
type Changed struct {
	Started   time.Time // the job was asked to run; it was idle
	Published time.Time // the store's new generation was committed
	Visible   time.Time // requests were answered from it
}

// Change changes records in the store, runs the job, and replies when the change is visible.
func (s *Serving) Change(c Change, reply *Changed) error {
	before, err := s.o.Views.Snapshot(rules.ViewActivities)
	if err != nil {
		return err
	}
	edited, err := s.edit(before.Meta().Rows/max(c.Count, 1), c)
	if err != nil {
		return err
	}
	if _, err := s.o.Store.Upsert(s.ctx, activities, edited); err != nil {
		return err
	}
	reply.Started = time.Now()
	if err := s.o.Trigger(rules.ViewActivities); err != nil {
		return err
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		now, err := s.o.Views.Snapshot(rules.ViewActivities)
		if err != nil {
			return err
		}
		if now.Meta().Generation != before.Meta().Generation {
			reply.Visible, reply.Published = time.Now(), now.Meta().Published
			return nil
		}
		if time.Since(reply.Started) > changeTime {
			return fmt.Errorf("%d changed records are not visible after %s", len(edited), changeTime)
		}
		select {
		case <-s.ctx.Done():
			return s.ctx.Err()
		case <-tick.C:
		}
	}
}

// edit reads every so many records of the store, and returns them changed.
func (s *Serving) edit(every int, c Change) (edited []bson.Raw, err error) {
	scanned := 0
	picked := func(bson.Raw) bool { scanned++; return scanned%max(every, 1) == 0 && scanned/max(every, 1) <= c.Count }
	for record, err := range s.o.Store.Sift(s.ctx, activities, picked) {
		if err == nil {
			record, err = multiply.Edit(record, c.Serial)
		}
		if err != nil {
			return nil, err
		}
		edited = append(edited, record)
	}
	return edited, nil
}

// memoryOf asks Linux for this process's memory; elsewhere it returns zeros.
func memoryOf() (m report.Held) {
	self, err := procfs.Self()
	if err != nil {
		return m
	}
	status, err := self.NewStatus()
	if err != nil {
		return m
	}
	return report.Held{Anonymous: int64(status.RssAnon), Resident: int64(status.VmRSS), Peak: int64(status.VmHWM)}
}
