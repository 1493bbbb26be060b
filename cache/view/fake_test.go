package view_test

import (
	"context"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/rules/filter"
	"vitrine/rules/leaktest"
	"vitrine/rules/raw"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// store implements the reading half of origin.Views; the test makes its versions.
type store struct {
	view.Source // the set calls neither the writing half nor queries

	mu     sync.Mutex
	meta   origin.Meta
	rows   []origin.Row // every version ever published
	pruned uint64
	loads  int // calls of Rows from generation 0
	deltas int
	err    error
}

func newStore() *store { return &store{meta: origin.Meta{View: "things", Epoch: "one"}} }

// publish makes a generation of docs and tombstones.
func (s *store) publish(docs []bson.D, gone ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.meta.Generation++
	for _, doc := range docs {
		raw := mustRaw(doc)
		s.rows = append(s.rows, origin.Row{ID: raw.Lookup("_id"), Generation: s.meta.Generation, Doc: raw})
	}
	for _, id := range gone {
		raw := mustRaw(bson.D{{Key: "_id", Value: id}})
		s.rows = append(s.rows, origin.Row{ID: raw.Lookup("_id"), Generation: s.meta.Generation})
	}
}

func (s *store) Meta(context.Context, string) (origin.Meta, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.meta, s.err
}

func (s *store) Metas(ctx context.Context) ([]origin.Meta, error) {
	meta, err := s.Meta(ctx, "things")
	return []origin.Meta{meta}, err
}

func (s *store) Rows(_ context.Context, _ string, since uint64, fn func(origin.Row) error) (origin.Meta, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return origin.Meta{}, s.err
	}
	if since == 0 {
		s.loads++
	} else {
		s.deltas++
		if since < s.pruned {
			return origin.Meta{}, origin.ErrStale
		}
	}
	for _, r := range s.rows {
		if r.Generation > since {
			if err := fn(r); err != nil {
				return origin.Meta{}, err
			}
		}
	}
	return s.meta, nil
}

func mustRaw(doc any) bson.Raw {
	raw, err := bson.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return raw
}

// running is a Set over one view that refreshes until the test ends.
type running struct {
	*view.Set
	t     testing.TB
	swaps chan *view.Snapshot
}

func appendTitle(dst []byte, row bson.Raw) []byte {
	return append(dst, row.Lookup("title").StringValue()...)
}

// run starts a set whose order is year descending.
func run(t testing.TB, s *store, o view.Options) *running {
	t.Helper()
	year, err := raw.ParsePath("year")
	if err != nil {
		t.Fatal(err)
	}
	r := &running{t: t, swaps: make(chan *view.Snapshot, 1)}
	o.Store = s
	o.OnSwap = func(snap *view.Snapshot) { r.swaps <- snap }
	if o.Views == nil {
		o.Views = []index.Definition{{
			Name:  "things",
			Order: raw.Sort{{Path: year, Desc: true}},
			Fragments: []index.Fragment{
				{Name: "title", Encode: appendTitle},
				{Name: "row", Parts: []index.Fragment{
					{Encode: func(dst []byte, _ bson.Raw) []byte { return append(dst, ',') }},
					{Name: "part", Encode: appendTitle},
				}},
				{Name: "record", Bulky: true,
					Encode: func(dst []byte, row bson.Raw) []byte { return append(dst, row.String()...) }},
			},
		}}
	}
	if r.Set, err = view.New(o); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = r.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return r
}

// next returns the snapshot that follows a signal.
func (r *running) next() *view.Snapshot {
	r.t.Helper()
	r.Notify("things")
	return <-r.swaps
}

// memory returns the rows of a snapshot in memory.
func memory(t testing.TB, snap *view.Snapshot) *index.Table {
	t.Helper()
	rows, ok := snap.Resident()
	if !ok {
		t.Fatal("the rows are not in memory")
	}
	return rows
}

// ids lists the rows that match a filter, in order.
func ids(t testing.TB, snap *view.Snapshot, json string) []string {
	t.Helper()
	f, err := filter.Parse([]byte(json), filter.Options{})
	if err != nil {
		t.Fatalf("parse %s: %v", json, err)
	}
	return selected(t, snap, f)
}

// selected lists the rows that a filter selects, in order.
func selected(t testing.TB, snap *view.Snapshot, f *filter.Filter) []string {
	t.Helper()
	sel, err := snap.Select(context.Background(), f)
	if err != nil {
		t.Fatalf("select %s: %v", f.Key(), err)
	}
	var got []string
	for row, err := range sel.Rows(context.Background(), 0, 0) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, row.Doc().Lookup("_id").StringValue())
	}
	if len(got) != sel.Count() {
		t.Errorf("%s: count is %d, rows are %d", f.Key(), sel.Count(), len(got))
	}
	return got
}
