package view_test

import (
	"testing"
	"time"

	"vitrine/cache/view"
	"vitrine/cache/view/index"
)

// TestAutoCountsLiveRows: replaced rows do not count, so a view stays in memory if its live rows
// fit.
func TestAutoCountsLiveRows(t *testing.T) {
	p := newPublisher(t)
	p.publish("things", 100, numberedDocs(t, 100, 1)...)
	s := kept(t, view.Options{
		Store: p, Mode: view.Auto, RowBudget: 25 << 10, Poll: time.Hour, Views: []index.Definition{{Name: "things"}},
	})
	for n := 2; n < 8; n++ {
		before, err := s.Snapshot("things")
		if err != nil {
			t.Fatal(err)
		}
		p.publish("things", 100, numberedDocs(t, 100, n)...)
		if err := s.Newer(t.Context(), &view.MovedError{View: "things", From: before.Meta()}); err != nil {
			t.Fatal(err)
		}
		checkModes(t, s, view.Memory)
		after, err := s.Snapshot("things")
		if err != nil || len(rowsOf(t, after)) != 100 {
			t.Fatalf("generation %d: %d rows, %v", n, len(rowsOf(t, after)), err)
		}
	}
}

// TestOutgrownHasNoFile: a set ignores the file of a view that has moved to the store.
func TestOutgrownHasNoFile(t *testing.T) {
	p := newPublisher(t)
	p.publish("things", 10, numberedDocs(t, 10, 1)...)
	o := filing(t.TempDir())
	o.Store, o.Mode, o.RowBudget, o.Views = p, view.Auto, 25<<10, []index.Definition{{Name: "things"}}
	s := kept(t, o)
	for s.Status()[0].FileConfirmed.IsZero() {
		<-time.After(time.Millisecond)
	}
	before, err := s.Snapshot("things")
	if err != nil {
		t.Fatal(err)
	}
	p.publish("things", 400, numberedDocs(t, 400, 2)...)
	if err := s.Newer(t.Context(), &view.MovedError{View: "things", From: before.Meta()}); err != nil {
		t.Fatal(err)
	}
	checkModes(t, s, view.Store)
	if st := s.Status()[0]; !st.FileConfirmed.IsZero() || st.FileErr != nil {
		t.Errorf("the status reports a file: %v, %v", st.FileConfirmed, st.FileErr)
	}
}
