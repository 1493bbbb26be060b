package view_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/cache/origin"
	"vitrine/cache/origin/bolt"
	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/rules/filter"
	"vitrine/rules/filter/filtertest"
	"vitrine/rules/pcre"
	"vitrine/rules/raw"
)

// publisher publishes views to an embedded store.
type publisher struct {
	*bolt.Store
	t     *testing.T
	lease origin.Lease
}

// publishedRules names the rules by which a publisher collects the words of its views.
const publishedRules = "rules"

func newPublisher(t *testing.T) *publisher {
	t.Helper()
	db, err := bolt.Open(filepath.Join(t.TempDir(), "views.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	lease, err := db.Acquire(context.Background(), "materialize", "test", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return &publisher{db, t, lease}
}

// publish publishes documents as a view's next generation; live is its number of live rows.
func (p *publisher) publish(name string, live int, docs ...bson.Raw) {
	p.t.Helper()
	ctx := context.Background()
	pub, err := p.Begin(ctx, name, p.lease)
	if err != nil {
		p.t.Fatal(err)
	}
	rows := make([]origin.Row, len(docs))
	for i, doc := range docs {
		rows[i] = origin.Row{ID: doc.Lookup("_id"), Doc: doc}
	}
	if err := pub.Put(ctx, rows); err != nil {
		p.t.Fatal(err)
	}
	if _, err := pub.Commit(ctx, live, publishedRules); err != nil {
		p.t.Fatal(err)
	}
}

// numberedDocs returns n documents that carry the number of their generation.
func numberedDocs(t *testing.T, n, generation int) []bson.Raw {
	t.Helper()
	docs := make([]bson.Raw, n)
	for i := range docs {
		raw, err := bson.Marshal(bson.D{
			{Key: "_id", Value: fmt.Sprintf("id%04d", i)}, {Key: "n", Value: generation},
			{Key: "text", Value: strings.Repeat("x", 100)},
		})
		if err != nil {
			t.Fatal(err)
		}
		docs[i] = raw
	}
	return docs
}

// listed returns rows as text.
func listed(selected view.Selection, offset, limit int) ([]string, error) {
	var all []string
	for row, err := range selected.Rows(context.Background(), offset, limit) {
		if err != nil {
			return nil, err
		}
		all = append(all, row.Doc().String())
	}
	return all, nil
}

// TestWhereRowsAreMakesNoDifference evaluates random filters, orders and pages on a view in memory
// and on the same view in the store.
func TestWhereRowsAreMakesNoDifference(t *testing.T) {
	rounds := 400
	if testing.Short() {
		rounds = 60
	}
	gen := filtertest.New(11)
	p := newPublisher(t)
	var docs []bson.Raw
	ids := map[string]bool{}
	for len(docs) < 300 {
		doc := gen.Doc()
		if id := doc.Lookup("_id"); id.Type != bson.TypeArray && id.Type != bson.TypeRegex && !ids[id.String()] {
			ids[id.String()] = true
			docs = append(docs, doc)
		}
	}
	p.publish("things", 0, docs...)
	n := 0 // ids that compare as equal are one row
	if _, err := p.Rows(t.Context(), "things", 0, func(origin.Row) error { n++; return nil }); err != nil {
		t.Fatal(err)
	}
	p.publish("things", n)
	def := index.Definition{Name: "things", Order: orderOf(t, "a", true)}
	load := func(mode view.Mode) *view.Snapshot {
		snap, err := view.Load(t.Context(), view.Options{Store: p, Mode: mode}, def)
		if err != nil {
			t.Fatal(err)
		}
		return snap
	}
	memory, stored := load(view.Memory), load(view.Store)
	dice := rand.New(rand.NewPCG(12, 0))
	matched := 0
	for range rounds {
		spelled := gen.Filter()
		f, err := filter.FromBSON(spelled, filter.Options{})
		if err != nil {
			continue
		}
		var order raw.Sort
		if dice.IntN(2) == 0 {
			order = orderOf(t, []string{"a", "b", "c.a", "_id"}[dice.IntN(4)], dice.IntN(2) == 0)
		}
		offset, limit, unwind := dice.IntN(10), dice.IntN(30), []string{"", "c"}[dice.IntN(2)]
		type answer struct {
			count  int
			rows   []string
			groups string
		}
		ask := func(snap *view.Snapshot) (a answer, err error) {
			selected, err := snap.Select(t.Context(), f)
			if err != nil {
				return a, err
			}
			a.count = selected.Count()
			if a.rows, err = listed(selected.By(order), offset, limit); err != nil {
				return a, err
			}
			groups, err := selected.Group(t.Context(), "b", unwind)
			a.groups = fmt.Sprint(groups)
			return a, err
		}
		want, wantErr := ask(memory)
		got, gotErr := ask(stored)
		if wantErr != nil || gotErr != nil {
			if wantErr == nil || gotErr == nil {
				t.Fatalf("%s: in memory %v, in the store %v", spelled, wantErr, gotErr)
			}
			continue
		}
		if got.count != want.count || !slices.Equal(got.rows, want.rows) || got.groups != want.groups {
			t.Fatalf("%s by %v from %d, %d rows:\nin memory %d %q %s\nin the store %d %q %s", spelled, order, offset,
				limit,
				want.count, want.rows, want.groups, got.count, got.rows, got.groups)
		}
		matched += want.count
	}
	if matched == 0 {
		t.Error("no filter matched anything")
	}
}

// TestForeignFiltersInTheStore: a database evaluates part of a filter and so narrows rows in the
// store.
func TestForeignFiltersInTheStore(t *testing.T) {
	p := newPublisher(t)
	p.publish("things", 5, numberedDocs(t, 5, 1)...)
	known := func(_ context.Context, _ string, _ bson.Raw) iter.Seq2[bson.RawValue, error] {
		return func(yield func(bson.RawValue, error) bool) {
			for _, id := range []string{"id0003", "gone", "id0001"} {
				if !yield(mustRaw(bson.D{{Key: "_id", Value: id}}).Lookup("_id"), nil) {
					return
				}
			}
		}
	}
	snap, err := view.Load(t.Context(), view.Options{Store: p, Mode: view.Store, Foreign: known},
		index.Definition{Name: "things"})
	if err != nil {
		t.Fatal(err)
	}
	for filters, want := range map[string]int{`{"$text":{"$search":"moth"}}`: 2, `{"_id":{"$gt":"id0001"}}`: 1} {
		foreign, err := filter.Parse([]byte(`{"$text":{"$search":"moth"}}`), filter.Options{Foreign: true})
		if err != nil {
			t.Fatal(err)
		}
		other, err := filter.Parse([]byte(filters), filter.Options{Foreign: true})
		if err != nil {
			t.Fatal(err)
		}
		found, err := snap.Select(t.Context(), filter.And(foreign, other))
		if err != nil {
			t.Fatal(err)
		}
		if rows, err := listed(found, 0, 0); err != nil || len(rows) != want || found.Count() != want {
			t.Errorf("joined with %s: %q, %v; want %d rows", filters, rows, err, want)
		}
	}
}

// orderOf returns an order by one path.
func orderOf(t testing.TB, path string, descending bool) raw.Sort {
	t.Helper()
	p, err := raw.ParsePath(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw.Sort{{Path: p, Desc: descending}}
}

// kept runs a set until the test ends.
func kept(t *testing.T, o view.Options) *view.Set {
	t.Helper()
	s, err := view.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	for !s.Ready() {
		<-time.After(time.Millisecond)
	}
	return s
}

// TestStoredViewGoesOn reads a view in the store while a publisher replaces it: every answer is of
// one generation.
func TestStoredViewGoesOn(t *testing.T) {
	const rows, generations = 200, 15
	p := newPublisher(t)
	p.publish("things", rows, numberedDocs(t, rows, 1)...)
	s := kept(t,
		view.Options{Store: p, Mode: view.Store, Poll: time.Hour, Views: []index.Definition{{Name: "things"}}})
	ended := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for last := false; !last; {
				select {
				case <-ended:
					last = true
				default:
				}
				if err := readGeneration(s, rows); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for n := 2; n <= generations; n++ {
		p.publish("things", rows, numberedDocs(t, rows, n)...)
	}
	close(ended)
	readers.Wait()
	snap, err := s.Snapshot("things")
	if err != nil || snap.Meta().Generation != generations {
		t.Errorf("generation %d, %v; want %d", snap.Meta().Generation, err, generations)
	}
}

// readGeneration reads a view to its end, and starts again whenever a new generation replaces it.
func readGeneration(s *view.Set, rows int) error {
	for {
		snap, err := s.Snapshot("things")
		if err != nil {
			return err
		}
		var moved *view.MovedError
		if err := checkGeneration(snap, rows); !errors.As(err, &moved) {
			return err
		}
		if err := s.Newer(context.Background(), moved); err != nil {
			return err
		}
	}
}

func checkGeneration(snap *view.Snapshot, rows int) error {
	all, err := snap.Select(context.Background(), filter.All())
	if err != nil {
		return err
	}
	n := 0
	for row, err := range all.Rows(context.Background(), 0, 0) {
		if err != nil {
			return err
		}
		if got := row.Doc().Lookup("n").AsInt64(); got != int64(snap.Meta().Generation) {
			return fmt.Errorf("a row of generation %d at generation %d", got, snap.Meta().Generation)
		}
		n++
	}
	if n != rows || all.Count() != rows {
		return fmt.Errorf("%d rows, counted %d, want %d", n, all.Count(), rows)
	}
	return nil
}

// TestAuto runs a set with views that fit in memory, and makes one of them outgrow the budget.
func TestAuto(t *testing.T) {
	p := newPublisher(t)
	p.publish("small", 10, numberedDocs(t, 10, 1)...)
	p.publish("growing", 20, numberedDocs(t, 20, 1)...)
	p.publish("large", 1000, numberedDocs(t, 1000, 1)...)
	var log logged
	s := kept(t, view.Options{
		Store: p, Mode: view.Auto, RowBudget: 32 << 10, Poll: time.Hour,
		Views:  []index.Definition{{Name: "large"}, {Name: "growing"}, {Name: "small"}},
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	checkModes(t, s, view.Store, view.Memory, view.Memory)
	if !strings.Contains(log.String(), "does not fit") {
		t.Errorf("nothing was logged: %s", log.String())
	}
	before, err := s.Snapshot("growing")
	if err != nil {
		t.Fatal(err)
	}
	p.publish("growing", 400, numberedDocs(t, 400, 2)...)
	if err := s.Newer(t.Context(), &view.MovedError{View: "growing", From: before.Meta()}); err != nil {
		t.Fatal(err)
	}
	checkModes(t, s, view.Store, view.Store, view.Memory)
	if n := len(rowsOf(t, before)); n != 20 {
		t.Errorf("the previous snapshot has %d rows, want 20", n)
	}
	after, err := s.Snapshot("growing")
	if err != nil {
		t.Fatal(err)
	}
	p.publish("growing", 400, numberedDocs(t, 1, 3)...)
	if err := s.Newer(t.Context(), &view.MovedError{View: "growing", From: after.Meta()}); err != nil {
		t.Fatal(err)
	}
	if after, err = s.Snapshot("growing"); err != nil || len(rowsOf(t, after)) != 400 {
		t.Errorf("after the change-over: %d rows, %v; want 400", len(rowsOf(t, after)), err)
	}
}

// rowsOf lists all rows of a snapshot.
func rowsOf(t *testing.T, snap *view.Snapshot) []string {
	t.Helper()
	selected, err := snap.Select(t.Context(), filter.All())
	if err != nil {
		t.Fatal(err)
	}
	rows, err := listed(selected, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// logged is a log that tests may read during writes.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func checkModes(t *testing.T, s *view.Set, want ...view.Mode) {
	t.Helper()
	var got []view.Mode
	for _, status := range s.Status() {
		got = append(got, status.Mode)
	}
	if !slices.Equal(got, want) {
		t.Errorf("modes %v, want %v", got, want)
	}
}

// TestSlowExpressionInStore: a caller may read rows after the work that selected them has ended, as
// streams do. A slow expression then counts as work of the reader.
func TestSlowExpressionInStore(t *testing.T) {
	p := newPublisher(t)
	doc, err := bson.Marshal(bson.D{{Key: "_id", Value: "a"}, {Key: "title", Value: strings.Repeat("a", 20) + "b"}})
	if err != nil {
		t.Fatal(err)
	}
	p.publish("things", 1, doc)
	snap, err := view.Load(t.Context(), view.Options{Store: p, Mode: view.Store}, index.Definition{Name: "things"})
	if err != nil {
		t.Fatal(err)
	}
	f, err := filter.Parse([]byte(`{"title": {"$not": {"$regex": "^(\\w|\\w\\w)*\\1[~^]$"}}}`), filter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	work := func() (context.Context, func()) {
		ctx, cancel := context.WithCancel(
			fair.With(t.Context(), fair.Account{Backtracking: pcre.NewBudget(time.Hour)}))
		ctx, turn, err := fair.New(1, 1).Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return ctx, func() { turn.End(); cancel() }
	}
	ctx, end := work()
	selected, err := snap.Select(ctx, f)
	end()
	if err != nil || selected.Count() != 1 {
		t.Fatalf("selected %v, %v", selected, err)
	}
	ctx, end = work()
	defer end()
	for _, err := range selected.Rows(ctx, 0, 0) {
		if err != nil {
			t.Errorf("rows after the selecting work has ended: %v", err)
		}
	}
}
