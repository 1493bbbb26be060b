package mongo_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/mongo"
	"vitrine/cache/origin/mongo/mongotest"
)

// TestSettleReadsNoRowsBack: a publisher does not read the rows that it has staged, unless they are too large to
// keep, but finds a row that another process has put among them.
func TestSettleReadsNoRowsBack(t *testing.T) {
	server := mongotest.Start(t)
	for size, readBack := range map[int]int{100_000: 0, 1_500_000: parts - 2} { // bytes of a row, rows
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			wire, database := mongotest.NewProxy(t, server), fmt.Sprint("back", size)
			s := openAt(t, wire.URI()+database, mongo.Options{BatchSize: 3})
			publishWhole(t, s)
			p := begun(t, s, "publisher")
			if err := p.Put(t.Context(), largeParts(t, size)); err != nil {
				t.Fatal(err)
			}
			views := client(t, server).Database(database)
			added := bson.D{{Key: "_id", Value: fmt.Sprintf("parts/%016x/~", 2)}, {Key: "text", Value: "added"},
				{Key: "_view", Value: bson.D{
					{Key: "gen", Value: int64(2)}, {Key: "hash", Value: int64(1)}, {Key: "id", Value: "added"}}}}
			if _, err := views.Collection("view_staged").InsertOne(t.Context(), added); err != nil {
				t.Fatal(err)
			}
			wire.Traffic()
			if _, err := p.Commit(t.Context(), parts, ""); err != nil {
				t.Fatal(err)
			}
			down := int(wire.Traffic().Down)
			t.Logf("count: settling %d staged rows of %d bytes: %d bytes read", parts, size, down)
			if down/size != readBack {
				t.Errorf("settling %d rows of %d bytes read %d", parts, size, down)
			}
			for collection, want := range map[string]int64{"view_staged": 0, "view_parts": parts + 1} {
				n, err := views.Collection(collection).CountDocuments(t.Context(), bson.D{})
				if n != want || err != nil {
					t.Errorf("%d rows in %s, want %d; %v", n, collection, want, err)
				}
			}
		})
	}
}

// largeParts returns the rows of a generation with all parts, each with as many bytes of text.
func largeParts(t *testing.T, size int) (rows []origin.Row) {
	t.Helper()
	for _, r := range partsOf(t, 1) {
		doc, err := bson.Marshal(bson.D{{Key: "_id", Value: r.ID}, {Key: "text", Value: strings.Repeat("x", size)}})
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, origin.Row{ID: r.ID, Doc: doc})
	}
	return rows
}

// TestOvertakenWhileSettling stops a publisher after its commit, when the server has performed one of the commands by
// which it settles. Another one settles in its place and publishes two more generations, of which one deletes a row.
// The first publisher then goes on with the rows that it has kept, and must not bring back the deleted row. With a
// keepDeltas of 1, the others delete the tombstone, too, after the publisher has checked its lease.
func TestOvertakenWhileSettling(t *testing.T) {
	server := mongotest.Start(t)
	for stop, keepDeltas := range map[string]uint64{
		"find view_lease": 1, "find view_staged": 9, "find view_parts": 9, "insert view_parts": 9,
		"update view_parts": 9, "delete view_staged": 9,
	} {
		t.Run(stop, func(t *testing.T) {
			database := "overtaken" + bson.NewObjectID().Hex()
			o := mongo.Options{BatchSize: mongotest.BatchSize, KeepDeltas: keepDeltas}
			direct := openAt(t, server+database, o)
			publishWhole(t, direct)
			publishWhole(t, direct) // the last row is gone
			wire := mongotest.NewProxy(t, server)
			p := begun(t, openAt(t, wire.URI()+database+mongotest.Patient, o), "victim")
			if err := p.Put(t.Context(), append(partsOf(t, 3), newRow(t))); err != nil {
				t.Fatal(err)
			}
			stopped, goOn := stopAfter(t, wire, stop)
			ended := make(chan error, 1)
			go func() {
				_, err := p.Commit(t.Context(), parts+1, "")
				ended <- err
			}()
			select {
			case <-stopped:
			case err := <-ended:
				t.Fatalf("the commit ended before the command %q: %v", stop, err)
			}
			republish(t, direct)
			close(goOn)
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			if g := wholeGeneration(t, direct); g != 5 {
				t.Errorf("generation %d", g)
			}
		})
	}
}

// stopAfter holds the reply to the first such command after a commit, which replaces the meta. It closes stopped
// then, and lets the reply pass when goOn is closed.
func stopAfter(t *testing.T, wire *mongotest.Proxy, stop string) (stopped, goOn chan struct{}) {
	t.Helper()
	stopped, goOn = make(chan struct{}), make(chan struct{})
	var committed, held, taken atomic.Bool
	wire.Set(mongotest.Fault{
		Request: func(command bson.Raw) bool {
			first := command.Index(0)
			name, _ := first.Value().StringValueOK()
			held.Store(committed.Load() && first.Key()+" "+name == stop)
			committed.Store(committed.Load() || first.Key()+" "+name == "update view_meta")
			return true
		},
		Reply: func(message []byte) []byte {
			if held.Load() && !ofHello(message) && taken.CompareAndSwap(false, true) {
				close(stopped)
				select {
				case <-goOn:
				case <-t.Context().Done():
				}
			}
			return message
		},
	})
	return stopped, goOn
}

// ofHello reports whether a reply is one by which the driver checks the server. They come at any time.
func ofHello(message []byte) bool { return bytes.Contains(message, []byte("maxWireVersion")) }

// newRow returns a row that no view has.
func newRow(t *testing.T) origin.Row {
	t.Helper()
	doc, err := bson.Marshal(bson.D{{Key: "_id", Value: "new"}, {Key: "g", Value: int64(3)}})
	if err != nil {
		t.Fatal(err)
	}
	return origin.Row{ID: bson.Raw(doc).Lookup("_id"), Doc: doc}
}

// republish publishes two generations, of which the first deletes newRow and the last of the parts.
func republish(t *testing.T, s *mongo.Store) {
	t.Helper()
	p := begun(t, s, "next")
	if err := p.Put(t.Context(), append(partsOf(t, 4), origin.Row{ID: newRow(t).ID})); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Commit(t.Context(), parts-1, ""); err != nil {
		t.Fatal(err)
	}
	publishWhole(t, s)
}

// begun begins a publication of the parts. The lease is free at once.
func begun(t *testing.T, s *mongo.Store, holder string) origin.Publication {
	t.Helper()
	l, err := s.Acquire(t.Context(), "materialize", holder, time.Nanosecond)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Begin(t.Context(), "parts", l)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
