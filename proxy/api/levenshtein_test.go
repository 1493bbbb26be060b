package api

import (
	"context"
	"errors"
	"testing"
	"time"
	"weak"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/cache/view/index"
)

// TestCorpusInTurn: a request that waits for the corpus leaves its turn to others, and one that
// ends leaves the corpus to them.
func TestCorpusInTurn(t *testing.T) {
	e, err := New(Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	rows := index.NewBuilder(Views()[0], index.NewBudget(1<<20, 0), nil).Load([]bson.Raw{parse(t, `{"_id":"a","type":"publication","title":"Soil"}`)})
	pending := &corpus{of: weak.Make(rows), made: make(chan struct{})}
	e.titles.latest = pending
	q := fair.New(1, 100)
	waiting, leave := context.WithCancel(t.Context())
	defer leave()
	found := make(chan error, 2)
	for _, client := range []context.Context{waiting, t.Context()} {
		ctx, turn, err := q.Begin(client) // the second has the turn that the first left
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			defer turn.End()
			_, err := e.titles.corpus(ctx, rows, true)
			found <- err
		}()
	}
	leave()
	if err := <-found; !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who left: %v", err)
	}
	pending.build(rows, e.titles.publications)
	if err := <-found; err != nil || len(pending.slots) != 1 {
		t.Errorf("a corpus of %d titles, error %v", len(pending.slots), err)
	}
}
