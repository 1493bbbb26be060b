package materialize_test

import (
	"errors"
	"testing"

	"vitrine/materialize"
)

// TestRowsAreKnownFromTheRunBefore: a run remembers the rows of the previous one and does not read
// them again, unless that run failed or another instance has published meanwhile.
func TestRowsAreKnownFromTheRunBefore(t *testing.T) {
	store := newFakeStore()
	s := &shouting{rules: "!"}
	r := newRunner(t, materialize.Options{Store: store, Jobs: []materialize.Job{s.job()}})
	other := newRunner(t, materialize.Options{Store: store, Jobs: []materialize.Job{s.job()}, Holder: "other"})
	store.replace("records", rec(1, "a"), rec(2, "b"), rec(3, "c"))
	wantHashed := func(want int) {
		t.Helper()
		if store.hashed != want {
			t.Errorf("%d reads of the rows, want %d", store.hashed, want)
		}
	}
	wantCounts(t, once(t, r, materialize.Request{}), materialize.Published,
		materialize.Counts{Scanned: 3, Rendered: 3, Changed: 3})
	wantCounts(t, once(t, r, materialize.Request{}), materialize.Unchanged, materialize.Counts{Scanned: 3})
	store.replace("records", rec(2, "B"), rec(3, "c"), rec(4, "d"))
	wantCounts(t, once(t, r, materialize.Request{}), materialize.Published,
		materialize.Counts{Scanned: 3, Rendered: 2, Changed: 2, Removed: 1})
	wantHashed(1)

	store.replace("records", rec(2, "B"), rec(4, "D"), rec(5, "e"))
	wantCounts(t, once(t, other, materialize.Request{}), materialize.Published,
		materialize.Counts{Scanned: 3, Rendered: 2, Changed: 2, Removed: 1})
	wantHashed(2)
	store.replace("records", rec(1, "back"), rec(2, "B"), rec(4, "D"), rec(5, "e"))
	wantCounts(t, once(t, r, materialize.Request{}), materialize.Published,
		materialize.Counts{Scanned: 4, Rendered: 1, Changed: 1})
	wantHashed(3)

	store.onCommit = func() error { return errors.New("no room") }
	store.replace("records", rec(2, "B"), rec(4, "D"), rec(5, "e"))
	if out := once(t, r, materialize.Request{}); out.Result != materialize.Failed {
		t.Errorf("a run that cannot commit: %s", out.Result)
	}
	store.onCommit = nil
	wantCounts(t, once(t, r, materialize.Request{}), materialize.Published,
		materialize.Counts{Scanned: 3, Removed: 1})
	wantHashed(4)
	wantLoud(t, store, map[int32]string{2: "B!", 4: "D!", 5: "e!"})
}
