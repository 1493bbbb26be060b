package materialize_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"vitrine/materialize"
)

// lose takes rows out of a view behind its publisher's back.
func (s *fakeStore) lose(view string, ids ...int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		delete(s.views[view].rows, key(doc(rec(id, "")).Lookup("_id")))
	}
}

// TestLostRowsArePublishedAgain: a run finds out that rows have gone from the store, one or
// all, also right after it has published them itself, and renders these again. A row that it
// cannot render is no longer counted.
func TestLostRowsArePublishedAgain(t *testing.T) {
	store := newFakeStore()
	s := &shouting{rules: "!"}
	o := materialize.Options{Store: store, Jobs: []materialize.Job{s.job()}, MaxShrink: 0.4}
	r := newRunner(t, o)
	store.replace("records", rec(1, "a"), rec(2, "b"), rec(3, "c"))
	all := map[int32]string{1: "a!", 2: "b!", 3: "c!"}
	once(t, r, materialize.Request{})
	for _, by := range []*materialize.Runner{r, newRunner(t, o)} {
		for _, lost := range [][]int32{{2}, {1, 2, 3}} {
			store.lose("loud", lost...)
			out := once(t, by, materialize.Request{})
			wantCounts(t, out, materialize.Published, materialize.Counts{Scanned: 3, Rendered: len(lost), Changed: len(lost)})
			if out.Missing != len(lost) {
				t.Errorf("%d rows are reported as missing, want %d", out.Missing, len(lost))
			}
			wantLoud(t, store, all)
			wantCounts(t, once(t, by, materialize.Request{}), materialize.Unchanged, materialize.Counts{Scanned: 3})
		}
	}

	store.replace("records", rec(1, "a"), rec(2, "refused"), rec(3, "c"))
	store.lose("loud", 2)
	wantCounts(t, once(t, r, materialize.Request{}), materialize.Published, materialize.Counts{Scanned: 3, Rendered: 1, Skipped: 1})
	wantLoud(t, store, map[int32]string{1: "a!", 3: "c!"})
	wantCounts(t, once(t, r, materialize.Request{}), materialize.Unchanged, materialize.Counts{Scanned: 3, Rendered: 1, Skipped: 1})

	store.lose("loud", 1, 3)
	store.replace("records", rec(1, "a"), rec(3, "c"))
	wantCounts(t, once(t, r, materialize.Request{Full: true}), materialize.Published, materialize.Counts{Scanned: 2, Rendered: 2, Changed: 2})

	store.lose("loud", 1)
	store.replace("records", rec(1, "a"))
	if out := once(t, r, materialize.Request{}); out.Result != materialize.Held || out.Missing != 1 {
		t.Errorf("a record is gone as well: %s, %d missing", out.Result, out.Missing)
	}
}

// TestLostRowsAreLogged: the log of a runner says how many rows its store has lost.
func TestLostRowsAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFakeStore()
		store.replace("a", rec(1, "x"), rec(2, "y"))
		var log bytes.Buffer
		r := newRunner(t, materialize.Options{Store: store, Jobs: []materialize.Job{idle("a")}, Log: slog.New(slog.NewTextHandler(&log, nil))})
		once(t, r, materialize.Request{})
		store.lose("a", 2)
		started(t, r)()
		if text := log.String(); !strings.Contains(text, "level=WARN msg=run view=a result=published") || !strings.Contains(text, "missing_from_store=1") {
			t.Errorf("the log: %s", text)
		}
	})
}

// TestForcedRunIsRecorded: front ends read from the meta that a run was forced, also where it
// had nothing to publish, and learn of it when they are notified.
func TestForcedRunIsRecorded(t *testing.T) {
	onEachStore(t, func(t *testing.T, store house) {
		s := &shouting{rules: "!"}
		store.replace("records", rec(1, "a"))
		r := newRunner(t, materialize.Options{Store: store, Jobs: []materialize.Job{s.job()}})
		if once(t, r, materialize.Request{}).Meta.Health.Forced {
			t.Error("forced, though no one asked")
		}
		if out := once(t, r, materialize.Request{Force: true}); out.Result != materialize.Unchanged || !out.Meta.Health.Forced {
			t.Errorf("%s, %+v", out.Result, out.Meta)
		}
		if once(t, r, materialize.Request{}).Meta.Health.Forced {
			t.Error("the next run counts as forced, too")
		}
	})
}
