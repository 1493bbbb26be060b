package view_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/rules/filter"
)

// TestWordsOfTheFirstSnapshot: the first snapshot is shown before its words are read.
// Searches that come before wait for them, and each row is read once. Later snapshots are
// shown with the words of their new rows.
func TestWordsOfTheFirstSnapshot(t *testing.T) {
	shown, read := make(chan struct{}), atomic.Int64{}
	def := index.Definition{Name: "things", Order: orderOf(t, "year", true), Words: func(row bson.Raw, add func(string, bool)) {
		<-shown
		read.Add(1)
		title, _ := row.Lookup("title").StringValueOK()
		add(title, true)
	}}
	s := newStore()
	s.publish([]bson.D{thing("a", 2020, "Moth"), thing("b", 2021, "Lamp"), {{Key: "_id", Value: "c"}, {Key: "title", Value: 1}}})
	loaded := make(chan int64, 2)
	r := run(t, s, view.Options{Poll: time.Hour, Views: []index.Definition{def}, OnLoaded: func() { loaded <- read.Load() }})
	search := func(snap *view.Snapshot) {
		every, err := snap.Select(t.Context(), filter.All())
		if err != nil {
			t.Error(err)
			return
		}
		if found, err := every.Search(t.Context(), []string{"mo"}); err != nil || found.Count() != 1 {
			t.Errorf("a search finds %v, error %v", found, err)
		}
	}
	snap := <-r.swaps
	if r.Status()[0].Loaded.IsZero() || read.Load() != 0 {
		t.Error("words are read before the snapshot is shown")
	}
	var searches sync.WaitGroup
	for range 8 {
		searches.Go(func() { search(snap) })
	}
	close(shown)
	searches.Wait()
	if n := <-loaded; n != 3 {
		t.Errorf("the view counts as loaded with the words of %d rows", n)
	}
	s.publish([]bson.D{thing("b", 2021, "Candle")})
	snap = r.next()
	if read.Load() != 4 {
		t.Errorf("%d rows are read before anyone asks, want 4", read.Load())
	}
	search(snap)
	if read.Load() != 4 {
		t.Errorf("a search read %d rows", read.Load()-4)
	}
}
