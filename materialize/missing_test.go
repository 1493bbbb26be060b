package materialize_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"vitrine/cache/origin"
	"vitrine/configs"
	"vitrine/materialize"
)

// lose removes rows from a view without its publisher.
func (s *fakeStore) lose(view string, ids ...int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		delete(s.views[view].rows, key(doc(rec(id, "")).Lookup("_id")))
	}
}

// TestLostRowsArePublishedAgain: a run notices that the store has lost some or all rows, even right
// after its own publication, and renders these again. It no longer counts a row that it cannot
// render.
func TestLostRowsArePublishedAgain(t *testing.T) {
	store := newFakeStore()
	s := &shouting{rules: "!"}
	o := materialize.Options{Store: store, Jobs: []materialize.Job{s.job()},
		Materialize: configs.Materialize{MaxShrink: 0.4}}
	r := newRunner(t, o)
	store.replace("records", rec(1, "a"), rec(2, "b"), rec(3, "c"))
	all := map[int32]string{1: "a!", 2: "b!", 3: "c!"}
	once(t, r, materialize.Request{})
	for _, by := range []*materialize.Runner{r, newRunner(t, o)} {
		for _, lost := range [][]int32{{2}, {1, 2, 3}} {
			store.lose("loud", lost...)
			out := once(t, by, materialize.Request{})
			wantCounts(t, out, materialize.Published,
				materialize.Counts{Scanned: 3, Rendered: len(lost), Changed: len(lost)})
			if out.Missing != len(lost) {
				t.Errorf("%d rows reported as missing, want %d", out.Missing, len(lost))
			}
			wantLoud(t, store, all)
			wantCounts(t, once(t, by, materialize.Request{}), materialize.Unchanged, materialize.Counts{Scanned: 3})
		}
	}

	store.replace("records", rec(1, "a"), rec(2, "refused"), rec(3, "c"))
	store.lose("loud", 2)
	wantCounts(t, once(t, r, materialize.Request{}), materialize.Published,
		materialize.Counts{Scanned: 3, Rendered: 1, Skipped: 1})
	wantLoud(t, store, map[int32]string{1: "a!", 3: "c!"})
	wantCounts(t, once(t, r, materialize.Request{}), materialize.Unchanged,
		materialize.Counts{Scanned: 3, Rendered: 1, Skipped: 1})

	store.lose("loud", 1, 3)
	store.replace("records", rec(1, "a"), rec(3, "c"))
	wantCounts(t, once(t, r, materialize.Request{Full: true}), materialize.Published,
		materialize.Counts{Scanned: 2, Rendered: 2, Changed: 2})

	store.lose("loud", 1)
	store.replace("records", rec(1, "a"))
	if out := once(t, r, materialize.Request{}); out.Result != materialize.Held || out.Missing != 1 {
		t.Errorf("after the record has gone, too: %s, %d missing", out.Result, out.Missing)
	}
}

// TestLostRowsAreLogged: the log of a runner says how many rows its store has lost.
func TestLostRowsAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFakeStore()
		store.replace("a", rec(1, "x"), rec(2, "y"))
		var log bytes.Buffer
		r := newRunner(t, materialize.Options{Store: store, Jobs: []materialize.Job{idle("a")},
			Log: slog.New(slog.NewTextHandler(&log, nil))})
		once(t, r, materialize.Request{})
		store.lose("a", 2)
		started(t, r)()
		if text := log.String(); !strings.Contains(text, "level=WARN msg=run view=a result=published") ||
			!strings.Contains(text, "missing_from_store=1") {
			t.Errorf("the log: %s", text)
		}
	})
}

// TestForcedRunIsRecorded: a forced run tells front ends in the meta that it was forced, even if it
// had no rows to publish.
func TestForcedRunIsRecorded(t *testing.T) {
	onEachStore(t, func(t *testing.T, store house) {
		s := &shouting{rules: "!"}
		store.replace("records", rec(1, "a"))
		r := newRunner(t, materialize.Options{Store: store, Jobs: []materialize.Job{s.job()}})
		if once(t, r, materialize.Request{}).Meta.Health.Forced {
			t.Error("a run without Force is recorded as forced")
		}
		if out := once(t, r, materialize.Request{Force: true}); out.Result != materialize.Unchanged ||
			!out.Meta.Health.Forced {
			t.Errorf("%s, %+v", out.Result, out.Meta)
		}
		if once(t, r, materialize.Request{}).Meta.Health.Forced {
			t.Error("the next run is recorded as forced, too")
		}
	})
}

// mixedStore is a fakeStore whose rows are not those of a generation.
type mixedStore struct {
	*fakeStore
	generation uint64
}

func (s *mixedStore) Rows(
	ctx context.Context, view string, since uint64, fn func(origin.Row) error,
) (origin.Meta, error) {
	meta, err := s.fakeStore.Rows(ctx, view, since, fn)
	if err == nil && meta.Generation == s.generation {
		err = origin.ErrInconsistent
	}
	return meta, err
}

func (s *mixedStore) RowCount(ctx context.Context, view string) (n int, err error) {
	_, err = s.Rows(ctx, view, 0, func(origin.Row) error { n++; return nil })
	return n, err
}

// TestMixedRowsArePublishedAgain: rows that are not those of the generation make a run publish another one, even if
// no row is stale, and rows that no run has published are removed whatever their number.
func TestMixedRowsArePublishedAgain(t *testing.T) {
	store := &mixedStore{fakeStore: newFakeStore()}
	s := &shouting{rules: "!"}
	o := materialize.Options{Store: store, Jobs: []materialize.Job{s.job()},
		Materialize: configs.Materialize{MaxShrink: 0.4}}
	r := newRunner(t, o)
	store.replace("records", rec(1, "a"), rec(2, "b"), rec(3, "c"))
	all := map[int32]string{1: "a!", 2: "b!", 3: "c!"}
	once(t, r, materialize.Request{})
	for _, by := range []*materialize.Runner{r, newRunner(t, o)} {
		for _, full := range []bool{false, true} {
			store.generation = once(t, by, materialize.Request{}).Meta.Generation
			out := once(t, by, materialize.Request{Full: full})
			if out.Result != materialize.Published || out.Meta.Generation != store.generation+1 || out.Removed > 0 {
				t.Errorf("full %t: %+v", full, out)
			}
			wantLoud(t, store.fakeStore, all)
			wantCounts(t, once(t, by, materialize.Request{}), materialize.Unchanged, materialize.Counts{Scanned: 3})
		}
	}
	for id := int32(10); id < 20; id++ {
		foreign := doc(rec(id, "foreign"))
		id := foreign.Lookup("_id")
		store.views["loud"].rows[key(id)] = origin.Row{ID: id, Generation: 1, Hash: 1, Doc: foreign}
	}
	wantCounts(t, once(t, r, materialize.Request{}), materialize.Published,
		materialize.Counts{Scanned: 3, Removed: 10})
	wantLoud(t, store.fakeStore, all)
}
