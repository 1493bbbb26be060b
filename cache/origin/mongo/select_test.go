package mongo_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/mongo"
	"vitrine/cache/origin/mongo/mongotest"
	"vitrine/rules"
	"vitrine/rules/filter"
	"vitrine/rules/filter/filtertest"
	"vitrine/rules/raw"
)

// TestSelectWaitsForSettling reads a generation that is published but not folded in yet, as a
// killed publisher leaves it: a reader never sees half a publication.
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
		t.Errorf("Count while the generation settles: %v, want a timeout", err)
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

// TestIndexIsThere asks for indexes twice: the second time the store creates none, as a user with
// only read permission could not.
func TestIndexIsThere(t *testing.T) {
	server := mongotest.Start(t)
	publishWhole(t, openAt(t, server+"indexed", mongo.Options{}))
	n, err := raw.ParsePath("n")
	if err != nil {
		t.Fatal(err)
	}
	keys := []raw.Sort{{{Path: n, Desc: true}, raw.ByID}, {{Path: n}}}
	wire := mongotest.NewProxy(t, server)
	var created atomic.Int64
	wire.Set(mongotest.Fault{Request: func(command bson.Raw) bool {
		if _, err := command.LookupErr("createIndexes"); err == nil {
			created.Add(1)
		}
		return true
	}})
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

// TestExpressionsOverTheWire: if the server refuses a filter, the error says that the query is
// wrong, and why. The expressions that it knows select the same rows as in memory.
func TestExpressionsOverTheWire(t *testing.T) {
	s := open(t, mongotest.Start(t), mongo.Options{})
	gen := filtertest.New(1)
	var docs []bson.Raw
	for i := range 40 {
		var d bson.D
		if err := bson.Unmarshal(gen.Plain(), &d); err != nil {
			t.Fatal(err)
		}
		raw, err := bson.Marshal(append(bson.D{{Key: "_id", Value: int32(i)}}, d...))
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, raw)
	}
	if _, err := s.Upsert(t.Context(), "things", docs); err != nil {
		t.Fatal(err)
	}
	known := 0
	for range 1000 {
		query := gen.Expression()
		var found []int32
		var failed error
		for doc, err := range s.Find(t.Context(), "things", origin.Query{Filter: query}) {
			if failed = err; err == nil {
				found = append(found, doc.Lookup("_id").Int32())
			}
		}
		if failed != nil {
			var fault *rules.Error
			if !errors.As(failed, &fault) || fault.Reason == "" || !errors.Is(failed, rules.ErrWrongCall) {
				t.Fatalf("%s: %v", query, failed)
			}
			continue
		}
		known++
		f, err := filter.FromBSON(query, filter.Options{})
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		var want []int32
		for i, doc := range docs {
			if hit, err := f.Match(doc); err != nil {
				t.Fatalf("%s on %s: %v", query, doc, err)
			} else if hit {
				want = append(want, int32(i))
			}
		}
		slices.Sort(found)
		if !slices.Equal(found, want) {
			t.Errorf("%s: the server finds %v, memory %v", query, found, want)
		}
	}
	t.Logf("the server knows %d of 1000 expressions", known)
}
