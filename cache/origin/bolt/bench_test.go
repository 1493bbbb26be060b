package bolt_test

import (
	"fmt"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/bolt"
)

// benchRows is the size of the benchmarks' view.
const benchRows = 10_000

// benchDocs returns documents of about a kilobyte each.
func benchDocs(b *testing.B, n int) []bson.Raw {
	b.Helper()
	abstract := string(make([]byte, 900))
	docs := make([]bson.Raw, n)
	for i := range docs {
		doc, err := bson.Marshal(bson.D{
			{Key: "_id", Value: bson.NewObjectID()}, {Key: "title", Value: fmt.Sprint("Title ", i)},
			{Key: "year", Value: 1990 + i%35}, {Key: "abstract", Value: abstract},
		})
		if err != nil {
			b.Fatal(err)
		}
		docs[i] = doc
	}
	return docs
}

// benchPublish publishes documents as rows.
func benchPublish(b *testing.B, s *bolt.Store, docs []bson.Raw) {
	b.Helper()
	l, err := s.Acquire(b.Context(), "materialize", "bench", time.Hour)
	if err != nil {
		b.Fatal(err)
	}
	p, err := s.Begin(b.Context(), "things", l)
	if err != nil {
		b.Fatal(err)
	}
	rows := make([]origin.Row, len(docs))
	for i, doc := range docs {
		rows[i] = origin.Row{ID: doc.Lookup("_id"), Hash: uint64(i), Doc: doc}
	}
	if err := p.Put(b.Context(), rows); err != nil {
		b.Fatal(err)
	}
	if _, err := p.Commit(b.Context(), len(rows), ""); err != nil {
		b.Fatal(err)
	}
}

// count counts the rows that Rows yields.
func count(b *testing.B, s *bolt.Store, since uint64) (n int, meta origin.Meta) {
	b.Helper()
	meta, err := s.Rows(b.Context(), "things", since, func(origin.Row) error { n++; return nil })
	if err != nil {
		b.Fatal(err)
	}
	return n, meta
}

func BenchmarkScan(b *testing.B) {
	s := open(b, bolt.Options{})
	if _, err := s.Upsert(b.Context(), "docs", benchDocs(b, benchRows)); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range s.Scan(b.Context(), "docs") {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkPublish(b *testing.B) {
	s, docs := open(b, bolt.Options{}), benchDocs(b, benchRows)
	b.ReportAllocs()
	for b.Loop() {
		benchPublish(b, s, docs)
	}
}

func BenchmarkLoad(b *testing.B) {
	s := open(b, bolt.Options{})
	benchPublish(b, s, benchDocs(b, benchRows))
	b.ReportAllocs()
	for b.Loop() {
		if n, _ := count(b, s, 0); n != benchRows {
			b.Fatalf("%d rows", n)
		}
	}
}

func BenchmarkDelta(b *testing.B) {
	s, docs := open(b, bolt.Options{}), benchDocs(b, benchRows)
	benchPublish(b, s, docs)
	_, before := count(b, s, 0)
	benchPublish(b, s, docs[:100])
	b.ReportAllocs()
	for b.Loop() {
		if n, _ := count(b, s, before.Generation); n != 100 {
			b.Fatalf("%d rows", n)
		}
	}
}
