package view_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/rules"
	"vitrine/rules/filter"
	"vitrine/rules/raw"
)

func thing(id string, year any, title string) bson.D {
	return bson.D{{Key: "_id", Value: id}, {Key: "year", Value: year}, {Key: "title", Value: title}}
}

func TestSnapshotIsUnavailableUntilPublished(t *testing.T) {
	s := newStore()
	r := run(t, s, view.Options{Poll: time.Hour})
	if _, err := r.Snapshot("things"); !errors.Is(err, rules.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
	if _, err := r.Snapshot("nothing"); !errors.Is(err, rules.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	if r.Ready() || len(r.Published()) > 0 {
		t.Error("ready before anything was published")
	}
	s.publish([]bson.D{thing("a", 2020, "A")})
	r.next()
	if !r.Ready() {
		t.Error("not ready after the first generation")
	}
}

func TestRefreshByDelta(t *testing.T) {
	s := newStore()
	s.publish([]bson.D{thing("a", 2020, "A"), thing("b", 2022, "B"), thing("c", 2021, "C")})
	r := run(t, s, view.Options{Poll: time.Hour})
	first := <-r.swaps
	if got, want := ids(t, first, `{}`), []string{"b", "c", "a"}; !slices.Equal(got, want) {
		t.Fatalf("order is %v, want %v", got, want)
	}

	s.publish([]bson.D{thing("a", 2023, "A2"), thing("d", 2022, "D")}, "c")
	second := r.next()
	if got, want := ids(t, second, `{}`), []string{"a", "b", "d"}; !slices.Equal(got, want) {
		t.Errorf("after the delta order is %v, want %v", got, want)
	}
	if got := ids(t, second, `{"year": 2020}`); got != nil {
		t.Errorf("the replaced version of a is still found: %v", got)
	}
	if got, want := ids(t, second, `{"year": {"$ne": 2022}}`), []string{"a"}; !slices.Equal(got, want) {
		t.Errorf("negation finds %v, want %v without dead rows", got, want)
	}
	if got, want := ids(t, first, `{}`), []string{"b", "c", "a"}; !slices.Equal(got, want) {
		t.Errorf("the previous snapshot changed under its reader: %v", got)
	}
	if s.loads != 1 || s.deltas != 1 {
		t.Errorf("loads %d, deltas %d; want 1 and 1", s.loads, s.deltas)
	}
	if got, want := r.Published(), second.Meta().Published.UnixMilli(); len(got) != 1 || got["things"] != want {
		t.Errorf("published %v, want %d", got, want)
	}

	s.publish([]bson.D{thing("c", 1999, "C again")})
	third := r.next()
	if got, want := ids(t, third, `{}`), []string{"a", "b", "d", "c"}; !slices.Equal(got, want) {
		t.Errorf("a row that came back: order is %v, want %v", got, want)
	}
}

func TestRefreshStartsAnewWhenDeltasDoNotReach(t *testing.T) {
	s := newStore()
	s.publish([]bson.D{thing("a", 2020, "A")})
	r := run(t, s, view.Options{Poll: time.Hour})
	<-r.swaps

	s.publish([]bson.D{thing("b", 2021, "B")})
	s.pruned = 2
	if got, want := ids(t, r.next(), `{}`), []string{"b", "a"}; !slices.Equal(got, want) {
		t.Errorf("after pruning: %v, want %v", got, want)
	}

	s.mu.Lock()
	s.meta.Epoch, s.meta.Generation, s.rows, s.pruned = "two", 0, nil, 0
	s.mu.Unlock()
	s.publish([]bson.D{thing("z", 2000, "Z")})
	if got, want := ids(t, r.next(), `{}`), []string{"z"}; !slices.Equal(got, want) {
		t.Errorf("after a new epoch: %v, want %v", got, want)
	}
}

func TestRefreshKeepsTheLastGoodSnapshot(t *testing.T) {
	s := newStore()
	s.publish([]bson.D{thing("a", 2020, "A")})
	r := run(t, s, view.Options{Poll: time.Millisecond})
	<-r.swaps
	s.mu.Lock()
	s.err = errors.New("away")
	s.mu.Unlock()
	for r.Status()[0].Err == nil {
		<-time.After(time.Millisecond)
	}
	snap, err := r.Snapshot("things")
	if err != nil || snap.Len() != 1 {
		t.Errorf("without the store: %v, %v", snap, err)
	}
	s.mu.Lock()
	s.err, s.meta.Generation = nil, 0
	s.mu.Unlock()
	s.publish(nil) // generation 1 again: no new rows
	if st := r.Status()[0]; st.Meta.Generation != 1 || st.Rows != 1 {
		t.Errorf("status %+v", st)
	}
}

// TestManyRefreshes folds segments over and over and compares with a plain map.
func TestManyRefreshes(t *testing.T) {
	s := newStore()
	want := map[string]int{}
	var docs []bson.D
	put := func(i, year int) {
		id := fmt.Sprintf("id%04d", i)
		want[id] = year
		docs = append(docs, thing(id, year, id))
	}
	for i := range 3000 {
		put(i, 2000+i%25)
	}
	s.publish(docs)
	r := run(t, s, view.Options{Poll: time.Hour, BulkBudget: 1 << 20})
	<-r.swaps
	for round := range 40 {
		docs = nil
		var gone []any
		fresh := map[string]bool{}
		for k := range 60 {
			i := (round*131 + k*7) % 3500
			put(i, 1990+(round+k)%40)
			fresh[fmt.Sprintf("id%04d", i)] = true
		}
		for k := range 20 {
			id := fmt.Sprintf("id%04d", (round*17+k*87)%3600)
			if !fresh[id] && want[id] != 0 {
				delete(want, id)
				gone = append(gone, id)
			}
		}
		s.publish(docs, gone...)
		snap := r.next()
		if snap.Len() != len(want) {
			t.Fatalf("round %d: %d rows, want %d", round, snap.Len(), len(want))
		}
		checkAgainst(t, snap, want)
	}
	if s.loads != 1 {
		t.Errorf("%d whole loads, want 1", s.loads)
	}
}

// checkRuns compares the runs of some selections, in the view's order and in another, with their rows' fragments one
// by one.
func checkRuns(t *testing.T, snap *index.Table, every *index.Subset) {
	t.Helper()
	selections := []*index.Subset{every}
	for _, text := range []string{`{"year":{"$gte":2020}}`, `{"year":{"$mod":[3,1]}}`, `{"year":1000}`} {
		f, err := filter.Parse([]byte(text), filter.Options{})
		if err != nil {
			t.Fatal(err)
		}
		selected, err := snap.Select(context.Background(), f)
		if err != nil {
			t.Fatal(err)
		}
		selections = append(selections, selected)
	}
	for _, selected := range selections {
		selections = append(selections, selected.By(raw.Sort{{Path: raw.ByID.Path, Desc: true}}))
	}
	kinds := map[string]func(index.Slot) string{
		"title":  func(slot index.Slot) string { return string(snap.Fragment(slot, "title")) },
		"row":    func(slot index.Slot) string { return "," + string(snap.Fragment(slot, "part")) },
		"record": func(slot index.Slot) string { return snap.Doc(slot).String() },
	}
	for _, selected := range selections {
		for name, fragment := range kinds {
			fits, err := snap.Prepare(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			if !fits {
				continue
			}
			var got, want []byte
			for run := range selected.Runs(context.Background(), name) {
				got = append(got, run...)
			}
			for row := range selected.Rows(context.Background(), 0, 0) {
				want = append(want, fragment(row.Slot)...)
			}
			if string(got) != string(want) {
				t.Fatalf("runs of %d rows differ from their fragments, %s", selected.Count(), name)
			}
		}
	}
}

// TestBulkyFragmentsAreBounded: cached fragments stay within the budget, and those of replaced rows
// make room for the new ones.
func TestBulkyFragmentsAreBounded(t *testing.T) {
	fit := func(snap *view.Snapshot) bool {
		fits, err := memory(t, snap).Prepare(t.Context(), "record")
		if err != nil {
			t.Fatal(err)
		}
		return fits
	}
	tests := []struct {
		name   string
		budget int64
		want   bool
	}{{"default", 0, true}, {"none", -1, false}, {"all but none beside", 100 << 10, true},
		{"a part", 24 << 10, false}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStore()
			publish := func() {
				var docs []bson.D
				for i := range 1000 { // 61 KB each
					docs = append(docs, thing(fmt.Sprintf("id%04d", i), 2000, "title"))
				}
				s.publish(docs)
			}
			publish()
			r := run(t, s, view.Options{Poll: time.Hour, BulkBudget: tt.budget})
			if got := fit(<-r.swaps); got != tt.want {
				t.Errorf("kept: %v, want %v", got, tt.want)
			}
			publish() // replaces every row and so the segment
			publish()
			if got := fit(r.next()); got != tt.want {
				t.Errorf("kept after all rows changed: %v, want %v", got, tt.want)
			}
		})
	}
}

// checkAgainst compares a snapshot's order, contents and fragments with a map of
// id to year.
func checkAgainst(t *testing.T, snap *view.Snapshot, want map[string]int) {
	t.Helper()
	order := make([]string, 0, len(want))
	for id := range want {
		order = append(order, id)
	}
	slices.SortFunc(order, func(a, b string) int {
		if want[a] != want[b] {
			return want[b] - want[a]
		}
		return slices.Compare([]byte(a), []byte(b))
	})
	if got := ids(t, snap, `{}`); !slices.Equal(got, order) {
		t.Fatalf("order differs")
	}
	rows := memory(t, snap)
	every, err := rows.Select(context.Background(), filter.All())
	if err != nil {
		t.Fatal(err)
	}
	for row := range every.Rows(context.Background(), 0, 0) {
		if title, id := string(row.Fragment("title")), row.Doc().Lookup("_id").StringValue(); title != id {
			t.Fatalf("fragment of %s is %s", id, title)
		}
	}
	checkRuns(t, rows, every)
	recent := slices.DeleteFunc(slices.Clone(order), func(id string) bool { return want[id] < 2020 })
	if got := ids(t, snap, `{"year":{"$gte":2020}}`); !slices.Equal(got, recent) {
		t.Fatalf("year >= 2020: got %d rows, want %d", len(got), len(recent))
	}
}

// TestPrepare: Prepare gets the next snapshot while the set shows the previous one, and its
// callback runs once the next one is shown.
func TestPrepare(t *testing.T) {
	s := newStore()
	s.publish([]bson.D{thing("a", 2020, "A")})
	r := run(t, s, view.Options{Poll: time.Hour})
	first := <-r.swaps
	current := func() *view.Snapshot {
		snap, err := r.Snapshot("things")
		if err != nil {
			t.Error(err)
		}
		return snap
	}
	var prepared, shown *view.Snapshot // the test waits for the refreshing goroutine below
	r.Prepare(func(_ context.Context, next *view.Snapshot, _ []index.Change) func() {
		if current() != first {
			t.Error("Prepare ran after the snapshot was shown")
		}
		prepared = next
		return func() { shown = current() }
	})
	s.publish([]bson.D{thing("b", 2021, "B")})
	if second := r.next(); prepared != second || shown != second {
		t.Errorf("prepared %p and shown %p, want %p", prepared, shown, second)
	}
	r.Prepare(func(context.Context, *view.Snapshot, []index.Change) func() { return nil })
	s.publish([]bson.D{thing("c", 2021, "C")})
	if got := r.next().Len(); got != 3 {
		t.Errorf("%d rows", got)
	}
}

// TestFirstSnapshotIsFresh: the first snapshot is confirmed as soon as it is shown.
func TestFirstSnapshotIsFresh(t *testing.T) {
	s := newStore()
	s.publish([]bson.D{thing("a", 2020, "A")})
	shown := make(chan view.Status, 1)
	set, err := view.New(view.Options{Store: s, Poll: time.Hour, Views: []index.Definition{{Name: "things"}}})
	if err != nil {
		t.Fatal(err)
	}
	set.Prepare(func(context.Context, *view.Snapshot, []index.Change) func() {
		return func() { shown <- set.Status()[0] }
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- set.Run(ctx) }()
	if st := <-shown; st.Stale || st.Checked.IsZero() {
		t.Errorf("stale %v, checked %v", st.Stale, st.Checked)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
