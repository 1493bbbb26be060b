package api

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"
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
	// No look-up expires, as another one would wait for the test: the second caller may come when the first's has
	// ended.
	now := time.Now()
	lookups := newPersonLookup(records, func() time.Time { return now }, time.Hour)
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

// slowRecords never answer the first look-up.
type slowRecords struct{ asked atomic.Int32 }

func (r *slowRecords) Find(ctx context.Context, _ string, _ origin.Query) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		if r.asked.Add(1) == 1 {
			<-ctx.Done()
			yield(nil, ctx.Err())
			return
		}
		doc, _ := bson.Marshal(bson.D{{Key: "username", Value: "ada"}})
		yield(doc, nil)
	}
}

// TestLookUpHasItsCallersTime: a look-up ends with the deadline of its first caller. A caller that has joined it, and
// has more time, looks again.
func TestLookUpHasItsCallersTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		records := &slowRecords{}
		lookups := newPersonLookup(records, time.Now, time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		first := make(chan error)
		go func() {
			_, err := lookups.find(ctx, "ada")
			first <- err
		}()
		synctest.Wait()
		later, leave := context.WithTimeout(t.Context(), 10*time.Second)
		defer leave()
		second := make(chan error)
		go func() {
			found, err := lookups.find(later, "ada")
			if err == nil && found == nil {
				err = errors.New("no record")
			}
			second <- err
		}()
		if err := <-first; err == nil {
			t.Error("the first caller has an answer")
		}
		if err := <-second; err != nil {
			t.Errorf("the caller with more time: %v", err)
		}
	})
}
