package api

import (
	"context"
	"errors"
	"iter"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
)

// heldRecords are records whose look-up the test starts and ends.
type heldRecords struct{ began, end chan bool }

func (r heldRecords) Find(ctx context.Context, _ string, _ origin.Query) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		r.began <- true
		<-r.end
		doc, _ := bson.Marshal(bson.D{{Key: "username", Value: "ada"}})
		yield(doc, ctx.Err())
	}
}

// TestLookUpOutlivesItsFirstCaller: if the first caller leaves, the look-up goes on for the waiting
// callers.
func TestLookUpOutlivesItsFirstCaller(t *testing.T) {
	records := heldRecords{make(chan bool), make(chan bool)}
	lookups := newPersonLookup(records, Shared{Now: time.Now, Timeout: time.Minute})
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error)
	go func() {
		_, err := lookups.find(ctx, "ada")
		first <- err
	}()
	<-records.began
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the first caller: %v, want %v", err, context.Canceled)
	}
	go close(records.end)
	if found, err := lookups.find(t.Context(), "ada"); err != nil || found == nil {
		t.Errorf("the second caller: %v, %v, want the record", found, err)
	}
}
