// Package serving is the service of a front end under measurement for the measuring
// process: it reports its address and what it has used, changes records of its store, and
// waits until a change is in its views.
//
// It runs in the serving process, since no other process can change an embedded store or
// see when a snapshot is shown.
package serving

import (
	"bytes"
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/view"
	"vitrine/cmd/vitrine/internal/bench/multiply"
	"vitrine/cmd/vitrine/internal/bench/usage"
	"vitrine/rules"
	"vitrine/rules/filter"
)

// activities is the source collection of rules.ViewActivities.
const activities = "activities"

// patience is how long a change may take to become visible.
const patience = 5 * time.Minute

// Options are what a Service needs of the front end.
type Options struct {
	Addr    string // HOST:PORT of the public listener
	Views   *view.Set
	Store   origin.Store
	Trigger func(view string) error // runs a view's job now, without waiting for it
}

// Service is the service of a serving process.
type Service struct {
	*Profiler
	o       Options
	ctx     context.Context
	started time.Time
}

// New returns a service that stops waiting for anything when ctx ends: calls of a
// parent bring no context of their own. The profiler may be at work already.
func New(ctx context.Context, p *Profiler, o Options) *Service {
	// Stores keep times in milliseconds: a job of this same one must not seem earlier.
	return &Service{Profiler: p, o: o, ctx: ctx, started: time.Now().Truncate(time.Millisecond)}
}

// Address replies HOST:PORT.
func (s *Service) Address(_ struct{}, reply *string) error {
	*reply = s.o.Addr
	return nil
}

// Usage replies what the process has used.
func (s *Service) Usage(_ struct{}, reply *usage.Usage) error {
	*reply = usage.Read()
	return nil
}

// Collect frees what is garbage and gives it back to the system, so that memory is
// read as what is needed.
func (s *Service) Collect(_ struct{}, reply *usage.Usage) error {
	debug.FreeOSMemory()
	*reply = usage.Read()
	return nil
}

// Held describes what the views hold.
type Held struct {
	Rows       int   // activities
	RowBytes   int64 // BSON of all views
	IndexBytes int64
	IndexPaths int
}

// Held replies what the views hold.
func (s *Service) Held(_ struct{}, reply *Held) error {
	for _, st := range s.o.Views.Status() {
		reply.RowBytes += st.RowBytes
		reply.IndexBytes += st.IndexBytes
		reply.IndexPaths += st.IndexPaths
		if st.View == rules.ViewActivities {
			reply.Rows = st.Rows
		}
	}
	return nil
}

// Settle returns when every view is loaded and every job has run since the process
// started, so that nothing but requests is going on any more.
func (s *Service) Settle(_ struct{}, _ *struct{}) error {
	return s.until(func() (bool, error) {
		if !s.o.Views.Ready() {
			return false, nil
		}
		metas, err := s.o.Store.Metas(s.ctx)
		for _, m := range metas {
			if m.Health.Started.Before(s.started) {
				return false, err
			}
		}
		return err == nil, err
	}, 20*time.Millisecond)
}

// Scan replies how long it takes to read all activities from the store.
func (s *Service) Scan(_ struct{}, reply *time.Duration) error {
	began := time.Now()
	for _, err := range s.o.Store.Scan(s.ctx, activities) {
		if err != nil {
			return err
		}
	}
	*reply = time.Since(began)
	return nil
}

// Change says what to change: Count records, spread over all, to what differs by
// Serial, which must not have been used on the store before.
type Change struct{ Count, Serial int }

// Changed holds the times of a change.
type Changed struct {
	Records   int
	Started   time.Time // the job was asked to run; it was idle
	Published time.Time // the store's new generation was committed
	Visible   time.Time // requests were answered from it
}

// Change changes records in the store, runs the job, and replies when it is visible.
func (s *Service) Change(c Change, reply *Changed) error {
	before, err := s.o.Views.Snapshot(rules.ViewActivities)
	if err != nil {
		return err
	}
	edited, err := s.edit(before, c)
	if err != nil {
		return err
	}
	if _, err := s.o.Store.Upsert(s.ctx, activities, edited); err != nil {
		return err
	}
	reply.Records, reply.Started = len(edited), time.Now()
	if err := s.o.Trigger(rules.ViewActivities); err != nil {
		return err
	}
	return s.until(func() (bool, error) {
		if time.Since(reply.Started) > patience {
			return false, fmt.Errorf("%d changed records are not visible after %s", len(edited), patience)
		}
		now, err := s.o.Views.Snapshot(rules.ViewActivities)
		if err != nil || now.Meta().Generation == before.Meta().Generation {
			return false, err
		}
		reply.Visible, reply.Published = time.Now(), now.Meta().Published
		return true, nil
	}, time.Millisecond)
}

// edit reads records, evenly spread over a snapshot, and returns them changed.
func (s *Service) edit(snapshot *view.Snapshot, c Change) ([]bson.Raw, error) {
	selected, err := snapshot.Select(s.ctx, filter.All())
	if err != nil {
		return nil, err
	}
	step := max(selected.Count()/max(c.Count, 1), 1)
	edited := make([]bson.Raw, 0, c.Count)
	at := 0
	for row, err := range selected.Rows(s.ctx, 0, 0) {
		if err != nil {
			return nil, err
		}
		if at++; at%step != 0 {
			continue
		}
		if len(edited) == c.Count {
			break
		}
		id := row.Doc().Lookup("_id")
		record, err := s.o.Store.Lookup(s.ctx, activities, id)
		if err != nil {
			return nil, err
		}
		record, err = multiply.Edit(bytes.Clone(record), c.Serial)
		if err != nil {
			return nil, fmt.Errorf("activity %s: %w", id, err)
		}
		edited = append(edited, record)
	}
	return edited, nil
}

// until polls a condition.
func (s *Service) until(is func() (bool, error), every time.Duration) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if done, err := is(); done || err != nil {
			return err
		}
		select {
		case <-s.ctx.Done():
			return s.ctx.Err()
		case <-tick.C:
		}
	}
}
