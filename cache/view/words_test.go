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

// TestWordsOfTheFirstSnapshot: the set shows the first snapshot before it reads its words. Searches
// that come earlier wait for them, and the set reads each row once. Later snapshots have the words
// of their new rows when they are shown.
func TestWordsOfTheFirstSnapshot(t *testing.T) {
	shown, read := make(chan struct{}), atomic.Int64{}
	def := index.Definition{Name: "things", Order: orderOf(t, "year", true),
		Words: func(row bson.Raw, add func(string, bool)) {
			<-shown
			read.Add(1)
			title, _ := row.Lookup("title").StringValueOK()
			add(title, true)
		}}
	s := newStore()
	s.publish([]bson.D{thing("a", 2020, "Moth"), thing("b", 2021, "Lamp"),
		{{Key: "_id", Value: "c"}, {Key: "title", Value: 1}}})
	loaded := make(chan int64, 2)
	r := run(t, s,
		view.Options{Poll: time.Hour, Views: []index.Definition{def}, OnLoaded: func() { loaded <- read.Load() }})
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
		t.Error("the set read words before it showed the snapshot")
	}
	var searches sync.WaitGroup
	for range 8 {
		searches.Go(func() { search(snap) })
	}
	close(shown)
	searches.Wait()
	if n := <-loaded; n != 3 {
		t.Errorf("the view is reported as loaded with the words of %d rows", n)
	}
	s.publish([]bson.D{thing("b", 2021, "Candle")})
	snap = r.next()
	if read.Load() != 4 {
		t.Errorf("the set read %d rows before any search, want 4", read.Load())
	}
	search(snap)
	if read.Load() != 4 {
		t.Errorf("a search read %d rows", read.Load()-4)
	}
}
