package api

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/cache/view/index"
)

// TestCorpusInTurn: a request that waits for the corpus yields its turn to others; if the client of
// a request leaves, other requests can load the corpus.
func TestCorpusInTurn(t *testing.T) {
	e, err := New(Options{}, Shared{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	rows := index.NewBuilder(Views()[0], index.NewBudget(1<<20, 0), nil).Load([]bson.Raw{parse(t, `{"_id":"a","type":"publication","title":"Soil"}`)})
	began, end := make(chan bool), make(chan bool)
	go e.titles.flights.Do(t.Context(), fmt.Sprintf("%p", rows), func() (*corpus, error) {
		close(began)
		<-end
		return &corpus{}, nil
	})
	<-began
	q := fair.New(1, 100)
	waiting, leave := context.WithCancel(t.Context())
	defer leave()
	found := make(chan error, 2)
	for _, client := range []context.Context{waiting, t.Context()} {
		ctx, turn, err := q.Begin(client) // the second request gets the turn that the first yielded
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			defer turn.End()
			_, err := e.titles.corpus(ctx, rows)
			found <- err
		}()
	}
	leave()
	if err := <-found; !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who left: %v", err)
	}
	close(end)
	if err := <-found; err != nil {
		t.Errorf("a caller who stayed: %v", err)
	}
	if made, err := e.titles.corpus(t.Context(), rows); err != nil || len(made.slots) != 1 {
		t.Errorf("the next caller: %v, %v, want one title", made, err)
	}
}
