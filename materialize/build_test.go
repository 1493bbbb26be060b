package materialize_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"vitrine/configs"
	"vitrine/materialize"
)

// The tests change the source step by step and check each run.
func TestOnlyChangedRowsAreRendered(t *testing.T) {
	onEachStore(t, func(t *testing.T, store house) {
		s := &shouting{rules: "!", deps: []string{"marks"}}
		steps := []struct {
			name   string
			change func()
			result materialize.Result
			counts materialize.Counts
			want   map[int32]string
		}{
			{"first run renders all", func() {
				store.replace("records", rec(1, "a"), rec(2, "b"), rec(3, "c"))
			}, materialize.Published, materialize.Counts{Scanned: 3, Rendered: 3, Changed: 3},
				map[int32]string{1: "a!", 2: "b!", 3: "c!"}},
			{"nothing changed", func() {},
				materialize.Unchanged, materialize.Counts{Scanned: 3},
				map[int32]string{1: "a!", 2: "b!", 3: "c!"}},
			{"one changed", func() { store.replace("records", rec(1, "a"), rec(2, "B"), rec(3, "c")) },
				materialize.Published, materialize.Counts{Scanned: 3, Rendered: 1, Changed: 1},
				map[int32]string{1: "a!", 2: "B!", 3: "c!"}},
			{"one added", func() { store.replace("records", rec(1, "a"), rec(2, "B"), rec(3, "c"), rec(4, "d")) },
				materialize.Published, materialize.Counts{Scanned: 4, Rendered: 1, Changed: 1},
				map[int32]string{1: "a!", 2: "B!", 3: "c!", 4: "d!"}},
			{"one deleted", func() { store.replace("records", rec(1, "a"), rec(3, "c"), rec(4, "d")) },
				materialize.Published, materialize.Counts{Scanned: 3, Removed: 1},
				map[int32]string{1: "a!", 3: "c!", 4: "d!"}},
			{"one back, one changed, one deleted",
				func() { store.replace("records", rec(2, "b"), rec(3, "C"), rec(4, "d")) },
				materialize.Published, materialize.Counts{Scanned: 3, Rendered: 2, Changed: 2, Removed: 1},
				map[int32]string{2: "b!", 3: "C!", 4: "d!"}},
			{"other rules", func() { s.rules = "?" },
				materialize.Published, materialize.Counts{Scanned: 3, Rendered: 3, Changed: 3},
				map[int32]string{2: "b?", 3: "C?", 4: "d?"}},
			{"a dependency changed", func() {
				store.replace("marks", m{{Key: "_id", Value: 1}, {Key: "mark", Value: "~"}})
			},
				materialize.Published, materialize.Counts{Scanned: 3, Rendered: 3, Changed: 3},
				map[int32]string{2: "b?~", 3: "C?~", 4: "d?~"}},
			{"still nothing changed", func() {},
				materialize.Unchanged, materialize.Counts{Scanned: 3},
				map[int32]string{2: "b?~", 3: "C?~", 4: "d?~"}},
			{"a record that has no row any more",
				func() { store.replace("records", rec(2, "b"), rec(3, "hidden"), rec(4, "d")) },
				materialize.Published, materialize.Counts{Scanned: 3, Rendered: 1, Removed: 1},
				map[int32]string{2: "b?~", 4: "d?~"}},
			{"all gone", func() { store.replace("records") },
				materialize.Published, materialize.Counts{Removed: 2},
				map[int32]string{}},
		}
		generation := uint64(0)
		for _, step := range steps {
			step.change()
			s.renders.Store(0)
			out := once(t, newRunner(t, materialize.Options{Store: store, Jobs: []materialize.Job{s.job()}}),
				materialize.Request{})
			t.Run(step.name, func(t *testing.T) {
				wantCounts(t, out, step.result, step.counts)
				if got := int(s.renders.Load()); got != step.counts.Rendered {
					t.Errorf("%d renders, want %d", got, step.counts.Rendered)
				}
				if step.result == materialize.Published {
					generation++
				}
				if out.Meta.Generation != generation || out.Meta.Health.Status != "ok" || out.Meta.Checked.IsZero() {
					t.Errorf("meta: got %+v, want generation %d and good health", out.Meta, generation)
				}
				wantLoud(t, store, step.want)
			})
		}
	})
}

// After any change to the source, a run brings the view to the rows that rendering the whole source
// would give, and the next run finds no change.
func TestViewFollowsSource(t *testing.T) {
	store := newFakeStore()
	s := &shouting{rules: "!"}
	r := newRunner(t, materialize.Options{Store: store, Jobs: []materialize.Job{s.job()}, Batch: 3})
	rapid.Check(t, func(rt *rapid.T) {
		source := rapid.MapOf(rapid.Int32Range(0, 20), rapid.SampledFrom([]string{"a", "b", "c", "hidden"})).Draw(rt,
			"source")
		docs, want := []any{}, map[int32]string{}
		for id, title := range source {
			docs = append(docs, rec(id, title))
			if title != "hidden" {
				want[id] = title + "!"
			}
		}
		store.replace("records", docs...)
		once(t, r, materialize.Request{Full: rapid.Bool().Draw(rt, "full")})
		if got := loud(t, store); !maps.Equal(got, want) {
			rt.Fatalf("got %v, want %v", got, want)
		}
		again := once(t, r, materialize.Request{Full: rapid.Bool().Draw(rt, "full again")})
		if again.Result != materialize.Unchanged {
			rt.Fatalf("second run: %s %+v", again.Result, again.Counts)
		}
	})
}

func TestShrinkingTooMuchIsHeld(t *testing.T) {
	tests := []struct {
		name      string
		keep      int32 // how many of ten records stay
		maxShrink float64
		held      bool
	}{
		{"just permitted", 8, 0.2, false},
		{"one too many", 7, 0.2, true},
		{"emptied", 0, 0.2, true},
		{"guard off", 0, 0, false},
		{"everything permitted", 0, 1, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			onEachStore(t, func(t *testing.T, store house) {
				var docs []any
				all, kept := map[int32]string{}, map[int32]string{}
				for i := range int32(10) {
					docs = append(docs, rec(i, "x"))
					all[i] = "x!"
					if i < tt.keep {
						kept[i] = "x!"
					}
				}
				s := &shouting{rules: "!"}
				r := newRunner(t,
					materialize.Options{Store: store, Jobs: []materialize.Job{s.job()},
						Materialize: configs.Materialize{MaxShrink: tt.maxShrink}})
				store.replace("records", docs...)
				once(t, r, materialize.Request{})
				store.replace("records", docs[:tt.keep]...)
				out := once(t, r, materialize.Request{})
				if !tt.held {
					wantCounts(t, out, materialize.Published,
						materialize.Counts{Scanned: int(tt.keep), Removed: 10 - int(tt.keep)})
					wantLoud(t, store, kept)
					return
				}
				wantCounts(t, out, materialize.Held, materialize.Counts{Scanned: int(tt.keep)})
				if h := out.Meta.Health; h.Status != "held" ||
					!strings.Contains(h.Error, fmt.Sprintf("%d of 10 rows", 10-tt.keep)) {
					t.Errorf("health: %+v", h)
				}
				wantLoud(t, store, all)
				once(t, r, materialize.Request{Force: true})
				wantLoud(t, store, kept)
			})
		})
	}
}

func TestBadRecordsAreLeftOut(t *testing.T) {
	for _, bad := range []string{"refused", "panics", "malformed", "huge", "astray"} {
		t.Run(bad, func(t *testing.T) {
			onEachStore(t, func(t *testing.T, store house) {
				s := &shouting{rules: "!"}
				r := newRunner(t, materialize.Options{Store: store, Jobs: []materialize.Job{s.job()},
					Materialize: configs.Materialize{MaxShrink: 0.1}})
				store.replace("records", rec(1, "a"), rec(2, "b"))
				once(t, r, materialize.Request{})

				store.replace("records", rec(1, bad), rec(2, "B"), rec(3, bad))
				out := once(t, r, materialize.Request{})
				wantCounts(t, out, materialize.Published,
					materialize.Counts{Scanned: 3, Rendered: 3, Changed: 1, Skipped: 2})
				wantLoud(t, store, map[int32]string{1: "a!", 2: "B!"})
				if len(out.Skips) != 2 || out.Meta.Health.Status != "ok" || out.Meta.Health.Skipped != 2 ||
					len(out.Meta.Health.Skips) != 2 || out.Meta.Health.Error != "" {
					t.Errorf("skips %v, health %+v", out.Skips, out.Meta.Health)
				}

				out = once(t, r, materialize.Request{})
				wantCounts(t, out, materialize.Unchanged, materialize.Counts{Scanned: 3, Rendered: 2, Skipped: 2})

				store.replace("records", rec(1, "A"), rec(2, "B"), rec(3, "C"))
				once(t, r, materialize.Request{})
				wantLoud(t, store, map[int32]string{1: "A!", 2: "B!", 3: "C!"})
			})
		})
	}
}

func TestFullRunRepairsDrift(t *testing.T) {
	store := newFakeStore()
	s := &shouting{rules: "!"}
	r := newRunner(t, materialize.Options{Store: store, Jobs: []materialize.Job{s.job()}})
	store.replace("records", rec(1, "a"), rec(2, "b"), rec(3, "c"))
	once(t, r, materialize.Request{})
	for id, row := range store.views["loud"].rows {
		if row.ID.Int32() == 2 {
			row.Doc = doc(m{{Key: "_id", Value: int32(2)}, {Key: "loud", Value: "tampered with"}})
			store.views["loud"].rows[id] = row
		}
	}
	out := once(t, r, materialize.Request{})
	wantCounts(t, out, materialize.Unchanged, materialize.Counts{Scanned: 3})
	out = once(t, r, materialize.Request{Full: true})
	wantCounts(t, out, materialize.Published, materialize.Counts{Scanned: 3, Rendered: 3, Changed: 1})
	wantLoud(t, store, map[int32]string{1: "a!", 2: "b!", 3: "c!"})
	out = once(t, r, materialize.Request{Full: true})
	wantCounts(t, out, materialize.Unchanged, materialize.Counts{Scanned: 3, Rendered: 3})
}

func TestRecordScannedTwiceCountsOnce(t *testing.T) {
	store := newFakeStore()
	s := &shouting{rules: "!"}
	r := newRunner(t, materialize.Options{Store: store, Jobs: []materialize.Job{s.job()}, Batch: 1})
	store.replace("records", rec(1, "a"), rec(2, "b"), rec(1, "a"), rec(2, "moved"))
	out := once(t, r, materialize.Request{})
	wantCounts(t, out, materialize.Published, materialize.Counts{Scanned: 4, Rendered: 2, Changed: 2})
	wantLoud(t, store, map[int32]string{1: "a!", 2: "b!"})
	store.replace("records", rec(1, "a"), rec(2, "moved"))
	once(t, r, materialize.Request{})
	wantLoud(t, store, map[int32]string{1: "a!", 2: "moved!"})
}

func TestEmptySourceIsPublishedOnce(t *testing.T) {
	onEachStore(t, func(t *testing.T, store house) {
		s := &shouting{}
		r := newRunner(t, materialize.Options{Store: store, Jobs: []materialize.Job{s.job()}})
		if out := once(t, r, materialize.Request{}); out.Result != materialize.Published || out.Meta.Generation != 1 {
			t.Errorf("first run: %s, generation %d", out.Result, out.Meta.Generation)
		}
		if out := once(t, r, materialize.Request{}); out.Result != materialize.Unchanged {
			t.Errorf("second run: %s", out.Result)
		}
	})
}

func TestFailingRunPublishesNothing(t *testing.T) {
	broken := errors.New("connection reset")
	tests := []struct {
		name    string
		arrange func(*fakeStore)
		job     func(*materialize.Job)
		aborted int
	}{
		{"scan breaks off", func(s *fakeStore) {
			n := 0
			s.onScan = func(context.Context, string) error {
				if n++; n == 2 {
					return broken
				}
				return nil
			}
		}, nil, 1},
		{"a dependency cannot be read", func(s *fakeStore) {
			s.onScan = func(_ context.Context, collection string) error {
				if collection == "marks" {
					return broken
				}
				return nil
			}
		}, nil, 1},
		{"preparing fails", nil, func(j *materialize.Job) {
			j.Rows = func(materialize.Deps) (materialize.RowFunc, error) { return nil, broken }
		}, 1},
		{"preparing panics", nil, func(j *materialize.Job) {
			j.Rows = func(materialize.Deps) (materialize.RowFunc, error) { panic(broken) }
		}, 1},
		// The next Begin finds out whether a failed commit took place.
		{"commit fails", func(s *fakeStore) { s.onCommit = func() error { return broken } }, nil, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			store := newFakeStore()
			s := &shouting{rules: "!", deps: []string{"marks"}}
			store.replace("marks", m{{Key: "_id", Value: 1}, {Key: "mark", Value: "~"}})
			store.replace("records", rec(1, "a"), rec(2, "b"), rec(3, "c"))
			good := newRunner(t, materialize.Options{Store: store, Jobs: []materialize.Job{s.job()}, Holder: "x"})
			once(t, good, materialize.Request{})
			before := loud(t, store)
			store.aborted = 0

			store.replace("records", rec(1, "A"))
			job := s.job()
			if tt.arrange != nil {
				tt.arrange(store)
			}
			if tt.job != nil {
				tt.job(&job)
			}
			out := once(t, newRunner(t, materialize.Options{Store: store, Jobs: []materialize.Job{job}}),
				materialize.Request{})
			if out.Result != materialize.Failed || !strings.Contains(out.Err.Error(), broken.Error()) {
				t.Errorf("outcome: %s, %v", out.Result, out.Err)
			}
			if h := out.Meta.Health; h.Status != "error" || !strings.Contains(h.Error, broken.Error()) {
				t.Errorf("health: %+v", h)
			}
			if store.aborted != tt.aborted {
				t.Errorf("%d publications aborted, want %d", store.aborted, tt.aborted)
			}
			wantLoud(t, store, before)

			store.onScan, store.onCommit = nil, nil
			once(t, good, materialize.Request{})
			wantLoud(t, store, map[int32]string{1: "A!~"})
		})
	}
}

// A summary's rows do not each stand for one record; the same rules hold for their publication.
func TestSummary(t *testing.T) {
	onEachStore(t, func(t *testing.T, store house) {
		job := materialize.Job{
			View: "loud", Source: "records", Fingerprint: "lengths",
			Summarize: lengths,
		}
		r := newRunner(t, materialize.Options{Store: store, Jobs: []materialize.Job{job}})
		store.replace("records", rec(1, "a"), rec(2, "b"), rec(3, "ccc"))
		wantCounts(t, once(t, r, materialize.Request{}), materialize.Published,
			materialize.Counts{Scanned: 3, Rendered: 2, Changed: 2})
		wantLoud(t, store, map[int32]string{1: "ab", 3: "ccc"})

		store.replace("records", rec(1, "a"), rec(2, "refused"), rec(3, "ccc"))
		out := once(t, r, materialize.Request{})
		wantCounts(t, out, materialize.Published, materialize.Counts{Scanned: 3, Rendered: 1, Changed: 1, Skipped: 1})
		wantLoud(t, store, map[int32]string{1: "a", 3: "ccc"})

		store.replace("records", rec(3, "ccc"), rec(4, "ddd"))
		wantCounts(t, once(t, r, materialize.Request{}), materialize.Published,
			materialize.Counts{Scanned: 2, Rendered: 1, Changed: 1, Removed: 1})
		wantLoud(t, store, map[int32]string{3: "cccddd"})

		store.replace("records", rec(4, "panics"))
		if out := once(t, r, materialize.Request{}); out.Result != materialize.Failed {
			t.Errorf("outcome: %s", out.Result)
		}
		wantLoud(t, store, map[int32]string{3: "cccddd"})
	})
}
