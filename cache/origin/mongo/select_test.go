package mongo_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin/mongo"
	"vitrine/cache/origin/mongo/mongotest"
)

// TestSelectWaitsForSettling asks for a generation that is published but not folded
// in yet, as a killed publisher leaves it: half a publication is never seen.
func TestSelectWaitsForSettling(t *testing.T) {
	server := mongotest.Start(t)
	s := openAt(t, server+"settling", mongo.Options{})
	publishWhole(t, s)
	meta, err := s.Meta(t.Context(), "parts")
	if err != nil {
		t.Fatal(err)
	}
	metas := client(t, server).Database("settling").Collection("view_meta")
	mark := func(attempt int64) {
		t.Helper()
		set := bson.D{{Key: "$set", Value: bson.D{{Key: "staged", Value: attempt}}}}
		if _, err := metas.UpdateOne(t.Context(), bson.D{{Key: "_id", Value: "parts"}}, set); err != nil {
			t.Fatal(err)
		}
	}
	mark(99)
	if settled, err := s.Settled(t.Context(), meta); settled || err != nil {
		t.Errorf("Settled = %t, %v", settled, err)
	}
	hurried, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := s.Count(hurried, meta, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Count while it is settled: %v, want that time ran out", err)
	}
	counted := make(chan error)
	go func() {
		n, err := s.Count(context.WithoutCancel(t.Context()), meta, nil)
		if err == nil && n != meta.Rows {
			err = errors.New("not all rows are counted")
		}
		counted <- err
	}()
	mark(0)
	if err := <-counted; err != nil {
		t.Error(err)
	}
}

// TestIndexIsThere asks for indexes twice: the second time nothing is created, as a
// user who may only read could not.
func TestIndexIsThere(t *testing.T) {
	server := mongotest.Start(t)
	publishWhole(t, openAt(t, server+"indexed", mongo.Options{}))
	keys := []bson.D{{{Key: "n", Value: -1}, {Key: "_id", Value: 1}}, {{Key: "title", Value: 1}}}
	wire := mongotest.NewProxy(t, server)
	var created atomic.Int64
	wire.Observe(func(command bson.Raw) {
		if _, err := command.LookupErr("createIndexes"); err == nil {
			created.Add(1)
		}
	})
	s := openAt(t, wire.URI()+"indexed", mongo.Options{})
	for range 2 {
		if err := s.Index(t.Context(), "parts", keys); err != nil {
			t.Fatal(err)
		}
		if n := created.Load(); n != int64(len(keys)) {
			t.Fatalf("%d indexes created, want %d", n, len(keys))
		}
	}
}
