package bolt_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/bolt"
)

// TestSelectReadsInBatches: the store reads a large view in as few transactions as it has batches.
func TestSelectReadsInBatches(t *testing.T) {
	s, err := bolt.Open(filepath.Join(t.TempDir(), "v.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	lease, err := s.Acquire(t.Context(), "materialize", "test", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	pub, err := s.Begin(t.Context(), "things", lease)
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]origin.Row, 1500)
	for i := range rows {
		doc, err := bson.Marshal(bson.D{{Key: "_id", Value: int32(i)},
			{Key: "text", Value: string(make([]byte, 8<<10))}})
		if err != nil {
			t.Fatal(err)
		}
		rows[i] = origin.Row{ID: bson.Raw(doc).Lookup("_id"), Doc: doc}
	}
	if err := pub.Put(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
	meta, err := pub.Commit(t.Context(), len(rows), "")
	if err != nil {
		t.Fatal(err)
	}
	looks := &countedLooks{Context: t.Context()}
	n, err := s.Count(looks, meta, nil)
	if err != nil || n != len(rows) {
		t.Fatalf("counted %d of %d rows, %v", n, len(rows), err)
	}
	if transactions := looks.n - len(rows); transactions > 20 { // each row calls Err too
		t.Errorf("the store read 12 MB in %d transactions", transactions)
	}
}

// countedLooks counts the calls of a context's Err. Every transaction calls it when it begins.
type countedLooks struct {
	context.Context
	n int
}

func (c *countedLooks) Err() error {
	c.n++
	return c.Context.Err()
}
