package view_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"vitrine/cache/origin"
	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/rules"
	"vitrine/rules/filter"
)

// losing is a store that loses rows while it is used: it counts fewer, and its fingerprints change. It counts
// requests.
type losing struct {
	*publisher

	mu       sync.Mutex
	lost     int
	writes   int   // to any view
	own      int   // to things
	refuses  error // what Fingerprint returns
	requests map[string]int
}

func (l *losing) note(request string) {
	l.requests[request]++
}

// lose changes the number of rows that are missing.
func (l *losing) lose(rows int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost, l.writes, l.own = rows, l.writes+1, l.own+1
}

// count returns how often a request was sent.
func (l *losing) count(request string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.requests[request]
}

func (l *losing) Meta(ctx context.Context, name string) (origin.Meta, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.note("meta")
	return l.publisher.Meta(ctx, name)
}

func (l *losing) Metas(ctx context.Context) ([]origin.Meta, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.note("metas")
	return l.publisher.Metas(ctx)
}

func (l *losing) RowCount(ctx context.Context, name string) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.note("count")
	n, err := l.publisher.RowCount(ctx, name)
	return n - l.lost, err
}

func (l *losing) Fingerprint(_ context.Context, name string) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.note("fingerprint " + name)
	if name == "" {
		return fmt.Sprint("all ", l.writes), l.refuses
	}
	return fmt.Sprint("own ", l.own), l.refuses
}

// lossy returns a running set over a store of ten rows that can lose some.
func lossy(t *testing.T, o view.Options) (*running, *losing) {
	t.Helper()
	l := &losing{publisher: newPublisher(t), requests: map[string]int{}}
	l.publish("things", 10, numberedDocs(t, 10, 1)...)
	o.Store, o.Poll, o.Views = l, time.Millisecond, []index.Definition{{Name: "things"}}
	return &running{Set: kept(t, o), t: t}, l
}

// become waits until the view has a status.
func (r *running) become(is func(view.Status) bool) {
	r.t.Helper()
	for !is(r.Status()[0]) {
		<-time.After(time.Millisecond)
	}
}

// confirmed waits until a poll that began after the call has confirmed the view. The goroutine that refreshes the
// view handles a poll some time after it has read the store, or leaves it out if there is a later one. So what counts
// is how often the view was confirmed. The first three times may be due to polls that began before the call: when it
// was made, one was being handled, another waited for that, and a third was reading the store.
func (r *running) confirmed() {
	for range 4 {
		before := r.Status()[0].Checked
		r.become(func(st view.Status) bool { return st.Checked.After(before) })
	}
}

// TestLostRowsInTheStore: at the next poll after a view in the store has lost rows, it is held, and queries fail with
// rules.ErrUnavailable: none answers from the rest. Answers made before the last check that found all rows stay. It
// ends when the rows are there again, at the same generation or the next one, or by force.
func TestLostRowsInTheStore(t *testing.T) {
	for _, end := range []string{"they are back", "the next generation", "force"} {
		t.Run(end, func(t *testing.T) {
			r, l := lossy(t, view.Options{Mode: view.Store})
			before := r.snapshot()
			made := time.Now()
			r.confirmed()
			l.lose(3)
			r.become(heldFor("the store has 7 of the 10 rows of generation 1"))
			late := time.Now()
			if st := r.Status()[0]; st.Missing != 3 || !st.Stale || st.Rows != 10 {
				t.Errorf("status: %+v", st)
			}
			_, err := before.Select(t.Context(), filter.All())
			for what, err := range map[string]error{
				"Select": err, "Intact": before.Intact(),
				"CheckAnswer": before.CheckAnswer(late), "CheckAnswer of none": before.CheckAnswer(time.Time{}),
			} {
				if !errors.Is(err, rules.ErrUnavailable) {
					t.Errorf("%s: %v, want rules.ErrUnavailable", what, err)
				}
			}
			if err := before.CheckAnswer(made); err != nil {
				t.Errorf("an answer made before the last check: %v", err)
			}
			// Signals must not end the hold, not even until the next poll. The view reads its own meta only for them.
			for before := l.count("meta"); l.count("meta") < before+20; {
				r.Notify("things")
				if heldBy(r.Status()[0]) == "" {
					t.Fatal("the hold has ended")
				}
				<-time.After(time.Millisecond)
			}
			want, generation := 10, uint64(1)
			switch end {
			case "they are back":
				l.lose(0)
			case "the next generation":
				generation = 2
				l.lose(0)
				l.publish("things", 10, numberedDocs(t, 1, 2)...)
			case "force":
				want = 7
				if !r.Force("things") {
					t.Error("not forced")
				}
			}
			r.become(func(st view.Status) bool {
				return st.Held == nil && st.Err == nil && st.Rows == want && st.Meta.Generation == generation
			})
			after := r.snapshot()
			if after.Intact() != nil || after.Edition() == before.Edition() && after.Meta().Is(before.Meta()) == nil {
				t.Errorf("edition %s after %s: %v", after.Edition(), before.Edition(), after.Intact())
			}
			if all, err := after.Select(t.Context(), filter.All()); err != nil || all.Count() != want {
				t.Errorf("Select = %v, %v; want %d rows", all, err, want)
			}
			if end == "force" {
				l.lose(5)
				r.become(heldFor("the store has 5 of the 10 rows"))
			}
		})
	}
}

func (r *running) snapshot() *view.Snapshot {
	r.t.Helper()
	snap, err := r.Snapshot("things")
	if err != nil {
		r.t.Fatal(err)
	}
	return snap
}

// TestIdlePolls: a poll of a set at rest reads all metas once, and the fingerprint of all views once if rows are in
// the store. It counts rows only if the fingerprints of all views and of the view have changed.
func TestIdlePolls(t *testing.T) {
	for _, mode := range []view.Mode{view.Memory, view.Store} {
		t.Run(string(mode), func(t *testing.T) {
			r, l := lossy(t, view.Options{Mode: mode})
			r.become(shows(10))
			r.confirmed() // the first poll compares what loading could not
			before := l.count("meta") + l.count("count") + l.count("fingerprint things")
			for range 5 {
				r.confirmed()
			}
			if got := l.count("meta") + l.count("count") + l.count("fingerprint things") - before; got != 0 {
				t.Errorf("%d other requests while the set polled: %v", got, l.requests)
			}
			if n := l.count("fingerprint "); (n > 0) != (mode == view.Store) || n > l.count("metas") {
				t.Errorf("%d fingerprints of all views, %d polls", n, l.count("metas"))
			}
			l.mu.Lock()
			l.writes++ // to another view
			l.mu.Unlock()
			r.confirmed() // compares the fingerprint of the view
			r.confirmed() // has nothing to compare
			if n := l.count("fingerprint things"); mode == view.Store && (l.count("count") != 1 || n != 3) {
				t.Errorf("%d counts after a write to another view, %d fingerprints of the view", l.count("count"), n)
			}
		})
	}
}

// TestNoFingerprints: a store that has none, or whose user may not read them, costs counts, and losses are found.
func TestNoFingerprints(t *testing.T) {
	r, l := lossy(t, view.Options{Mode: view.Store})
	l.mu.Lock()
	l.refuses = origin.ErrUnsupported
	l.mu.Unlock()
	l.lose(3)
	r.become(heldFor("the store has 7 of the 10 rows"))
	l.lose(0)
	r.become(shows(10))
}
