package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
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

// house is a store with thirty activities, one view of them, and a job that publishes the records
// unchanged.
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
	upsert := func(collection string, records []bson.Raw) error {
		_, err := store.Upsert(context.Background(), collection, records)
		return err
	}
	return h, &Serving{Views: h.views, Upsert: upsert,
		Trigger: func(name string, _ bool) error { return h.publish(name) }, Settled: h.settled}
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
	var took time.Duration
	if err := s.Change(Change{Records: h.records(t, "another title")}, &took); err == nil {
		t.Error("before anything is loaded: no error")
	}
	h.start(t)
	for _, title := range []string{"second title", "third title"} {
		if err := s.Change(Change{Records: h.records(t, title)}, &took); err != nil || took <= 0 {
			t.Errorf("%s, %v", took, err)
		}
		if n := h.count(t, title); n != 5 {
			t.Errorf("%d records have the %s, want 5", n, title)
		}
	}
	var m Memory
	if err := s.Memory(struct{}{}, &m); err != nil || m.Rows <= 0 || m.Collecting <= 0 ||
		runtime.GOOS == "linux" && m.Own <= 0 {
		t.Errorf("%+v, %v", m, err)
	}
}

// start publishes the view and waits until it is loaded.
func (h *house) start(t *testing.T) {
	t.Helper()
	if err := h.publish(rules.ViewActivities); err != nil {
		t.Fatal(err)
	}
	for !h.views.Ready() {
		<-time.After(time.Millisecond)
	}
	close(h.settled)
}

// records returns five of the records with that title.
func (h *house) records(t *testing.T, title string) (docs []bson.Raw) {
	t.Helper()
	for i := range 5 {
		doc, err := bson.Marshal(bson.D{{Key: "_id", Value: i}, {Key: "title", Value: title}})
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, doc)
	}
	return docs
}

// count counts the rows of the view with that title.
func (h *house) count(t *testing.T, title string) (n int) {
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
		if row.Doc().Lookup("title").StringValue() == title {
			n++
		}
	}
	return n
}
