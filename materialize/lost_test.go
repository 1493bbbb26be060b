package materialize_test

import (
	"context"
	"errors"
	"testing"

	"vitrine/cache/origin"
	"vitrine/configs"
	"vitrine/materialize"
)

// loseAll drops everything, as an operator's mistake does: sources and views, with their metas and counts. Tokens
// stay, so that the lease of the test goes on.
func (s *fakeStore) loseAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.views)
	for name := range s.sources {
		s.sources[name] = nil
	}
}

// frontEnd is what a process shows of a view.
type frontEnd struct {
	at   origin.Meta
	rows int
}

func (f *frontEnd) show(string) (origin.Meta, int) { return f.at, f.rows }

// TestLostMetaIsHeld: if the store has lost a view together with the counts of its runs, a run that would publish too
// few rows is held by the process that remembers them, again and again, until it is forced, or the records are back.
func TestLostMetaIsHeld(t *testing.T) {
	tests := []struct {
		name         string
		front, fresh bool // whether there is a front end; whether the process was started after the publication
	}{
		{"the runner remembers", false, false},
		{"the front end remembers", true, true},
		{"the runner remembers, the front end is not loaded", true, false},
	}
	const reason = "the store has lost the view, of which this instance has 10 rows, and the run would leave "
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			store := newFakeStore()
			o := materialize.Options{Store: store, Jobs: []materialize.Job{idle("a")},
				Materialize: configs.Materialize{MaxShrink: 0.2}}
			front := &frontEnd{}
			if tt.front {
				o.CurrentMeta = front.show
			}
			r := newRunner(t, o)
			store.replace("a", records(10)...)
			if published := once(t, r, materialize.Request{}).Meta; tt.fresh {
				front.at, front.rows = published, 10
				r = newRunner(t, o)
			}
			store.loseAll()
			for range 2 {
				wantHeld(t, once(t, r, materialize.Request{}), reason+"0")
			}
			store.replace("a", records(7)...)
			wantHeld(t, once(t, r, materialize.Request{Full: true}), reason+"7")
			if meta, _ := store.Meta(t.Context(), "a"); meta.Generation != 0 || meta.Rows != 0 {
				t.Errorf("published: %+v", meta)
			}
			// The counts are in the store again, so that a process that remembers nothing is held, too.
			store.replace("a")
			other := newRunner(t, materialize.Options{Store: store, Jobs: o.Jobs,
				Materialize: configs.Materialize{MaxShrink: o.MaxShrink}})
			wantHeld(t, once(t, other, materialize.Request{}), "would leave 0 of the 10 rows")
			store.replace("a", records(9)...) // the front end may go on showing all 10
			if out := once(t, r, materialize.Request{}); out.Result != materialize.Published || out.Meta.Rows != 9 {
				t.Fatalf("with the records back: %s, %v", out.Result, out.Err)
			}
			store.loseAll()
			wantHeld(t, once(t, r, materialize.Request{}), "the run would leave 0")
			if out := once(t, r, materialize.Request{Force: true}); out.Result != materialize.Published ||
				out.Meta.Rows != 0 {
				t.Fatalf("forced: %s, %v", out.Result, out.Err)
			}
			if out := once(t, r, materialize.Request{}); out.Result != materialize.Unchanged {
				t.Errorf("after a forced run: %s, %v", out.Result, out.Err)
			}
		})
	}
}

// TestLostCountsOfCollections: the records of collections, too, are compared with what the process remembers.
func TestLostCountsOfCollections(t *testing.T) {
	store := newFakeStore()
	loud := &shouting{rules: "!", deps: []string{"marks"}}
	job := loud.job()
	r := newRunner(t, materialize.Options{Store: store, Jobs: []materialize.Job{job},
		Materialize: configs.Materialize{MaxShrink: 0.2}})
	fill := func(marks int32) {
		store.replace("records", records(10)...)
		store.replace("marks", records(marks)...)
	}
	fill(10)
	once(t, r, materialize.Request{})
	store.loseAll()
	fill(0)
	wantHeld(t, once(t, r, materialize.Request{}), "collection marks has 0 records and had 10 within the last day")
	fill(10)
	if out := once(t, r, materialize.Request{}); out.Result != materialize.Published {
		t.Fatalf("with the records back: %s, %v", out.Result, out.Err)
	}
}

// TestOnlyLossRecallsRows: what a front end shows counts only if the store has lost the view: its snapshot may be
// older than a permitted loss, or another process may have forced one. A view made anew by a process that remembers
// nothing is a loss, too.
func TestOnlyLossRecallsRows(t *testing.T) {
	tests := []struct {
		name   string
		rows   int32 // that another process publishes in a store that has lost the view; -1 if none does
		forced bool
		left   int32 // rows that the process's run finds
		held   bool
	}{
		{"an older snapshot", -1, false, 9, false},
		{"made anew", 10, false, 9, false},
		{"made anew without rows", 0, false, 0, true},
		{"made anew, then emptied", 10, false, 7, true},
		{"forced by another process", 0, true, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			store := newFakeStore()
			o := materialize.Options{Store: store, Jobs: []materialize.Job{idle("a")},
				Materialize: configs.Materialize{MaxShrink: 0.2}}
			store.replace("a", records(10)...)
			front := &frontEnd{once(t, newRunner(t, o), materialize.Request{}).Meta, 10}
			if tt.rows < 0 {
				front.rows = 20 // whatever it shows
			} else {
				store.loseAll()
				store.replace("a", records(tt.rows)...)
				once(t, newRunner(t, o), materialize.Request{Force: tt.forced})
			}
			store.replace("a", records(tt.left)...)
			o.CurrentMeta = front.show
			out := once(t, newRunner(t, o), materialize.Request{})
			if held := out.Result == materialize.Held; held != tt.held {
				t.Errorf("%s, %v", out.Result, out.Err)
			}
		})
	}
}

// TestLostDuringARun: a run that fails remembers what the store had when it began.
func TestLostDuringARun(t *testing.T) {
	store := newFakeStore()
	o := materialize.Options{Store: store, Jobs: []materialize.Job{idle("a")},
		Materialize: configs.Materialize{MaxShrink: 0.2}}
	store.replace("a", records(10)...)
	once(t, newRunner(t, o), materialize.Request{})
	r := newRunner(t, o)
	store.onScan = func(context.Context, string) error { return errors.New("connection refused") }
	once(t, r, materialize.Request{})
	store.onScan = nil
	store.loseAll()
	wantHeld(t, once(t, r, materialize.Request{}), "the run would leave 0")
}
