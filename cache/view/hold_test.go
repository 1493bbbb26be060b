package view_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"vitrine/cache/origin"
	"vitrine/cache/origin/bolt"
	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/rules"
	"vitrine/rules/filter"
)

// exchanged is a store that a test can replace by another, as an operator's mistake or a restore
// does. It counts the reads of a whole view.
type exchanged struct {
	atomic.Pointer[publisher]
	whole atomic.Int64
	away  atomic.Bool            // reading rows fails
	lost  atomic.Int64           // rows that a read of the whole view does not return
	next  atomic.Pointer[func()] // is called once, when a refresh is about to read the view
}

func (e *exchanged) views() origin.Views { return e.Load() }

// exchange returns a set over a store that the test can replace.
func exchange(t *testing.T, first *publisher, o view.Options) (*running, *exchanged) {
	t.Helper()
	e := &exchanged{}
	e.Store(first)
	o.Store, o.Poll, o.MaxShrink = behind{e, first.Store}, time.Hour, 0.2
	o.Views = []index.Definition{{Name: "things"}}
	s, err := view.New(o)
	if err != nil {
		t.Fatal(err)
	}
	r := &running{Set: s, t: t}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = r.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return r, e
}

// behind returns the current store.
type behind struct {
	e *exchanged
	*bolt.Store
}

func (b behind) Meta(ctx context.Context, view string) (origin.Meta, error) {
	if call := b.e.next.Swap(nil); call != nil {
		(*call)()
	}
	return b.e.views().Meta(ctx, view)
}

func (b behind) Metas(ctx context.Context) ([]origin.Meta, error) {
	return b.e.views().Metas(ctx)
}

func (b behind) RowCount(ctx context.Context, view string) (int, error) {
	return b.e.views().RowCount(ctx, view)
}

func (b behind) Settled(ctx context.Context, at origin.Meta) (bool, error) {
	return b.e.Load().Settled(ctx, at)
}

func (b behind) Rows(ctx context.Context, view string, since uint64, fn func(origin.Row) error) (origin.Meta, error) {
	if b.e.away.Load() {
		return origin.Meta{}, fmt.Errorf("connection refused: %w", rules.ErrUnavailable)
	}
	lost := int64(0)
	if since == 0 {
		b.e.whole.Add(1)
		lost = b.e.lost.Load()
	}
	return b.e.views().Rows(ctx, view, since, func(r origin.Row) error {
		if lost--; lost >= 0 {
			return nil
		}
		return fn(r)
	})
}

// polled polls until the view has a status. It fails the test if the view is held meanwhile for a
// new reason: one that was there before may stay.
func (r *running) polled(is func(view.Status) bool) view.Status {
	r.t.Helper()
	for before := heldBy(r.Status()[0]); ; {
		r.Notify("things")
		st := r.Status()[0]
		if is(st) {
			return st
		}
		if reason := heldBy(st); reason != "" && reason != before {
			r.t.Fatalf("held: %s", reason)
		}
		<-time.After(time.Millisecond)
	}
}

// heldBy returns the reason why a view is held, or "".
func heldBy(st view.Status) string {
	if st.Held == nil {
		return ""
	}
	return st.Held.Error()
}

// heldFor matches a status whose reason for holding contains the words.
func heldFor(words string) func(view.Status) bool {
	return func(st view.Status) bool { return strings.Contains(heldBy(st), words) }
}

// shows matches the status of a view that is not held and shows that many rows.
func shows(rows int) func(view.Status) bool {
	return func(st view.Status) bool {
		return st.Held == nil && st.Err == nil && st.Rows == rows && !st.Loaded.IsZero()
	}
}

// forced records that a run of the view was forced.
func (p *publisher) forced() {
	p.t.Helper()
	if err := p.SetHealth(p.t.Context(), "things", p.lease,
		origin.Health{Status: origin.HealthOK, Forced: true}); err != nil {
		p.t.Fatal(err)
	}
}

// reopened calls a function and then, an hour later, opens the file as it was before the call.
func (p *publisher) reopened(call func()) *publisher {
	p.t.Helper()
	path := strings.TrimPrefix(p.Name(), "bolt://")
	content, err := os.ReadFile(path)
	if err != nil {
		p.t.Fatal(err)
	}
	copied := filepath.Join(p.t.TempDir(), "backup.db")
	if err := os.WriteFile(copied, content, 0o600); err != nil {
		p.t.Fatal(err)
	}
	call()
	db, err := bolt.Open(copied, bolt.Options{Now: func() time.Time { return time.Now().Add(time.Hour) }})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = db.Close() })
	lease, err := db.Acquire(p.t.Context(), "materialize", "test", time.Hour)
	if err != nil {
		p.t.Fatal(err)
	}
	return &publisher{db, p.t, lease}
}

// numbers lists the field n of a snapshot's rows.
func (r *running) numbers() (all []int32) {
	r.t.Helper()
	snap, err := r.Snapshot("things")
	if err != nil {
		r.t.Fatal(err)
	}
	selected, err := snap.Select(r.t.Context(), filter.All())
	if err != nil {
		r.t.Fatal(err)
	}
	for row, err := range selected.Rows(r.t.Context(), 0, 0) {
		if err != nil {
			r.t.Fatal(err)
		}
		all = append(all, row.Doc().Lookup("n").Int32())
	}
	return all
}

// TestLostDatabaseIsHeld: the set does not show a view that is gone, or was made anew with too few
// rows. It keeps the last good one, also over a restart, until there are enough rows, a run was
// forced, or the test releases it.
func TestLostDatabaseIsHeld(t *testing.T) {
	for _, release := range []string{"enough rows", "a forced run", "force", "the database is back"} {
		t.Run(release, func(t *testing.T) {
			good, empty := newPublisher(t), newPublisher(t)
			good.publish("things", 10, numberedDocs(t, 10, 1)...)
			o := filing(filepath.Join(t.TempDir(), "files"))
			t.Run("running", func(t *testing.T) {
				r, e := exchange(t, good, o)
				r.polled(shows(10))
				e.Store(empty)
				r.polled(heldFor("no longer has it"))
				if r.Force("things") {
					t.Error("Force is true for a view that the store does not have")
				}
				empty.publish("things", 0)
				st := r.polled(
					heldFor("the store has 0 rows of it where 10 are shown, a loss of more than the permitted 20 %"))
				if st.Rows != 10 || !st.Stale || len(r.numbers()) != 10 || st.Meta.Generation != 1 {
					t.Errorf("status while the view is held: %+v", st)
				}
			})
			r, e := exchange(t, empty, o)
			r.polled(heldFor("the store has 0 rows of it where 10 are shown"))
			want := 0
			switch release {
			case "enough rows":
				empty.publish("things", 7, numberedDocs(t, 7, 2)...)
				r.polled(heldFor("the store has 7 rows"))
				empty.publish("things", 8, numberedDocs(t, 8, 3)...)
				want = 8
			case "a forced run":
				empty.forced()
			case "force":
				if !r.Force("things") {
					t.Error("not forced")
				}
			case "the database is back":
				e.Store(good)
				want = 10
			}
			r.polled(shows(want))
			if got := len(r.numbers()); got != want {
				t.Errorf("%d rows, want %d", got, want)
			}
		})
	}
}

// TestFirstBuildIsShown: a set that shows no rows yet shows any first build.
func TestFirstBuildIsShown(t *testing.T) {
	p := newPublisher(t)
	r, _ := exchange(t, p, view.Options{})
	p.publish("things", 0)
	r.polled(shows(0))
	p.publish("things", 1, numberedDocs(t, 1, 1)...)
	r.polled(shows(1))
	docs := numberedDocs(t, 1, 1)
	pub, err := p.Begin(t.Context(), "things", p.lease)
	if err != nil {
		t.Fatal(err)
	}
	if err := pub.Put(t.Context(), []origin.Row{{ID: docs[0].Lookup("_id")}}); err != nil {
		t.Fatal(err)
	}
	if _, err := pub.Commit(t.Context(), 0, ""); err != nil {
		// the publisher's own checks decide about publications that follow one another
		t.Fatal(err)
	}
	r.polled(shows(0))
}

// TestMissingRowsAreNotShown: if the store has fewer rows of a view than it counts, the set keeps
// showing the previous snapshot, and does not read the view over and over.
func TestMissingRowsAreNotShown(t *testing.T) {
	for _, mode := range []view.Mode{view.Memory, view.Store} {
		t.Run(string(mode), func(t *testing.T) {
			p := newPublisher(t)
			p.publish("things", 10, numberedDocs(t, 7, 1)...)
			r, e := exchange(t, p, view.Options{Mode: mode})
			st := r.polled(heldFor("the store has 7 of the 10 rows of generation 1"))
			if r.Ready() || st.Missing != 3 || !st.Loaded.IsZero() {
				t.Errorf("without all rows: ready %t, %+v", r.Ready(), st)
			}
			if !r.Force("things") {
				t.Error("not forced")
			}
			r.polled(func(st view.Status) bool { return st.Held == nil && st.Rows > 0 })
			if got := len(r.numbers()); got != 7 {
				t.Errorf("after forcing the view shows %d rows", got)
			}
			p.publish("things", 10, numberedDocs(t, 10, 2)...)
			r.polled(shows(10))
			if mode == view.Store {
				return // queries find out by themselves
			}
			p.publish("things", 12, numberedDocs(t, 10, 3)...)
			if st := r.polled(heldFor("the store has 10 of the 12 rows of generation 3")); st.Rows != 10 ||
				r.numbers()[0] != 2 {
				t.Errorf("status without all rows: %+v", st)
			}
			p.publish("things", 12, numberedDocs(t, 12, 4)...)
			r.polled(shows(12))
			if whole := e.whole.Load(); whole > 40 {
				t.Errorf("%d reads of the whole view", whole)
			}
		})
	}
}

// TestAwaitShown: Shows returns when requests get a generation, or says why they do not. A refresh that began before
// the call does not count.
func TestAwaitShown(t *testing.T) {
	for _, mode := range []view.Mode{view.Memory, view.Store} {
		t.Run(string(mode), func(t *testing.T) {
			p, empty := newPublisher(t), newPublisher(t)
			p.publish("things", 10, numberedDocs(t, 10, 1)...)
			r, e := exchange(t, p, view.Options{Mode: mode})
			meta := func(p *publisher) origin.Meta {
				m, err := p.Meta(t.Context(), "things")
				if err != nil {
					t.Fatal(err)
				}
				return m
			}
			for n := int32(1); n < 20; n++ {
				if n > 1 {
					p.publish("things", 10, numberedDocs(t, 10, int(n))...)
				}
				if err := r.AwaitShown(t.Context(), "things", meta(p)); err != nil {
					t.Fatal(err)
				}
				if got := r.numbers(); got[0] != n {
					t.Fatalf("after generation %d: %v", n, got)
				}
			}
			if err := r.AwaitShown(t.Context(), "none", origin.Meta{}); !errors.Is(err, rules.ErrNotFound) {
				t.Errorf("an unknown view: %v", err)
			}
			empty.publish("things", 0)
			e.Store(empty)
			for _, at := range []origin.Meta{meta(empty), {}} {
				if err := r.AwaitShown(t.Context(), "things", at); !strings.Contains(fmt.Sprint(err),
					"the store has 0 rows of it where 10 are shown") {
					t.Errorf("while the view is held: %v", err)
				}
			}
			r.Force("things")
			if err := r.AwaitShown(t.Context(), "things", origin.Meta{}); err != nil || r.Status()[0].Rows != 0 {
				t.Errorf("forced: %v, %+v", err, r.Status())
			}
		})
	}
}

// forceAfter changes the store and forces the view when a refresh is about to read it. Beside a refresh that has read
// the store before the change, Force would accept what that refresh has found.
func (r *running) forceAfter(e *exchanged, change func()) {
	r.t.Helper()
	found := make(chan bool)
	call := func() { change(); found <- r.Force("things") }
	e.next.Store(&call)
	r.Notify("things")
	if !<-found {
		r.t.Error("not forced")
	}
}

// TestForceAcceptsWhatItSaw: if the view cannot be read after Force, and the store loses more rows meanwhile, the
// view is held again.
func TestForceAcceptsWhatItSaw(t *testing.T) {
	p := newPublisher(t)
	p.publish("things", 10, numberedDocs(t, 7, 1)...)
	r, e := exchange(t, p, view.Options{})
	r.polled(heldFor("the store has 7 of the 10 rows"))
	r.forceAfter(e, func() { e.away.Store(true) })
	r.polled(func(st view.Status) bool { return st.Err != nil && st.Held == nil })
	e.lost.Store(5)
	e.away.Store(false)
	for st := r.Status()[0]; !heldFor("the store has 2 of the 10 rows")(st); st = r.Status()[0] {
		if !st.Loaded.IsZero() {
			t.Fatalf("shows %d rows", st.Rows)
		}
		r.Notify("things")
		<-time.After(time.Millisecond)
	}
	r.forceAfter(e, func() { e.lost.Store(0) })
	r.polled(func(st view.Status) bool { return st.Held == nil && st.Rows == 7 })
}

// TestRestoredBackup: if a store goes back to a backup, the set shows it once a run has confirmed
// it, and does not mix rows from before with those after.
func TestRestoredBackup(t *testing.T) {
	for _, seen := range []bool{true, false} { // whether the set polls before the backup gets new generations
		t.Run(fmt.Sprint("seen ", seen), func(t *testing.T) {
			p := newPublisher(t)
			p.publish("things", 10, numberedDocs(t, 10, 1)...)
			p.publish("things", 10, numberedDocs(t, 10, 2)...)
			backup := p.reopened(func() {
				p.publish("things", 10, numberedDocs(t, 10, 3)...)
				p.publish("things", 12, numberedDocs(t, 12, 4)...)
			})
			r, e := exchange(t, p, filing(filepath.Join(t.TempDir(), "files")))
			r.polled(shows(12))
			want := slices.Repeat([]int32{2}, 10)
			if seen {
				e.Store(backup)
				r.polled(heldFor("gone back from generation 4 to 2"))
				if err := backup.SetHealth(t.Context(), "things", backup.lease,
					origin.Health{Status: origin.HealthOK}); err != nil {
					t.Fatal(err)
				}
			} else {
				for n := range 3 { // 3 to 5, of the first two rows
					backup.publish("things", 10, numberedDocs(t, 2, 10+n)...)
				}
				want[0], want[1] = 12, 12
				e.Store(backup)
			}
			r.polled(shows(10))
			got := r.numbers()
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("shown: %v, want %v", got, want)
			}
		})
	}
}
