package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/bolt"
	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/rules"
	"vitrine/rules/filter"
)

// house is a store with thirty activities, one view of them, and a job that
// publishes the records as they are.
type house struct {
	store   *bolt.Store
	views   *view.Set
	lease   origin.Lease
	settled chan struct{}
}

func newHouse(t *testing.T) (*house, *Serving) {
	t.Helper()
	store, err := bolt.Open(filepath.Join(t.TempDir(), "s.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := &house{store: store, settled: make(chan struct{})}
	var docs []bson.Raw
	for i := range 30 {
		doc, err := bson.Marshal(bson.D{{Key: "_id", Value: i}, {Key: "title", Value: fmt.Sprint("Title ", i)}})
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, doc)
	}
	if _, err := store.Upsert(t.Context(), "activities", docs); err != nil {
		t.Fatal(err)
	}
	if h.lease, err = store.Acquire(t.Context(), "job", "test", 1<<40); err != nil {
		t.Fatal(err)
	}
	h.views, err = view.New(view.Options{Store: store, Views: []index.Definition{{Name: rules.ViewActivities}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- h.views.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ran; err != nil {
			t.Error(err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return h, &Serving{Context: ctx, Views: h.views, Store: store, Trigger: h.publish, Settled: h.settled}
}

// publish is the job.
func (h *house) publish(name string) error {
	ctx := context.Background()
	p, err := h.store.Begin(ctx, name, h.lease)
	if err != nil {
		return err
	}
	rows := 0
	for doc, err := range h.store.Scan(ctx, "activities") {
		if err != nil {
			return err
		}
		rows++
		if err := p.Put(ctx, []origin.Row{{ID: doc.Lookup("_id"), Doc: doc}}); err != nil {
			return err
		}
	}
	if _, err := p.Commit(ctx, rows, "rules"); err != nil {
		return err
	}
	h.views.Notify(name)
	return nil
}

func TestChange(t *testing.T) {
	h, s := newHouse(t)
	var got Changed
	if err := s.Change(Change{Count: 5}, &got); err == nil {
		t.Error("before anything is loaded: no error")
	}
	if err := h.publish(rules.ViewActivities); err != nil {
		t.Fatal(err)
	}
	for !h.views.Ready() {
		<-time.After(time.Millisecond)
	}
	close(h.settled)
	if err := s.Settle(struct{}{}, nil); err != nil {
		t.Fatal(err)
	}
	for serial := 1; serial <= 2; serial++ {
		if err := s.Change(Change{Count: 5, Serial: serial}, &got); err != nil {
			t.Fatal(err)
		}
		if got.Visible.Before(got.Started) {
			t.Errorf("%+v", got)
		}
		if n := h.edited(t, serial); n != 5 {
			t.Errorf("%d records show change %d, want 5", n, serial)
		}
	}
	var size Memory
	if err := s.Memory(struct{}{}, &size); err != nil || size.Rows <= 0 {
		t.Errorf("%+v, %v", size, err)
	}
}

// edited counts the rows of the view that a change has reached.
func (h *house) edited(t *testing.T, serial int) (n int) {
	t.Helper()
	snapshot, err := h.views.Snapshot(rules.ViewActivities)
	if err != nil {
		t.Fatal(err)
	}
	all, err := snapshot.Select(t.Context(), filter.All())
	if err != nil {
		t.Fatal(err)
	}
	for row, err := range all.Rows(t.Context(), 0, 0) {
		if err != nil {
			t.Fatal(err)
		}
		i := row.Doc().Lookup("_id").Int32()
		if row.Doc().Lookup("title").StringValue() == fmt.Sprintf("Title %d, edition %d", i, serial) {
			n++
		}
	}
	return n
}

// TestEndsWithItsContext checks that a service does not wait for what will not come.
func TestEndsWithItsContext(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := (&Serving{Context: ctx}).Settle(struct{}{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("settle: %v", err)
	}
	h, _ := newHouse(t)
	if err := h.publish(rules.ViewActivities); err != nil {
		t.Fatal(err)
	}
	for !h.views.Ready() {
		time.Sleep(time.Millisecond)
	}
	s := &Serving{Context: ctx, Views: h.views, Store: h.store, Trigger: func(string) error { return nil }}
	if err := s.Change(Change{Count: 1, Serial: 1}, new(Changed)); !errors.Is(err, context.Canceled) {
		t.Errorf("change: %v", err)
	}
}
