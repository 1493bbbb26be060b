package view_test

import (
	"testing"
	"time"

	"vitrine/cache/view"
)

// TestAutoCountsLiveRows: rows that were replaced do not drive a view out of memory
// that fits without them.
func TestAutoCountsLiveRows(t *testing.T) {
	p := newPublisher(t)
	p.publish("things", 100, numberedDocs(t, 100, 1)...)
	s := kept(t, view.Options{
		Store: p, Mode: view.Auto, RowBudget: 25 << 10, Poll: time.Hour, Views: []view.Definition{{Name: "things"}},
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
