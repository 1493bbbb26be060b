package dump_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/dump"
)

// activities returns n documents of the size and shape of activities, as BSON
// and as lines of relaxed Extended JSON.
func activities(b *testing.B, n int) (raw, lines []byte) {
	b.Helper()
	for i := range n {
		var authors bson.A
		for j := range 6 {
			authors = append(authors,
				bson.D{{Key: "first", Value: "Maria"}, {Key: "last", Value: fmt.Sprint("Example", j)},
					{Key: "user", Value: fmt.Sprint("mex", j)}, {Key: "affiliated", Value: j < 2},
					{Key: "units", Value: bson.A{"A", "B"}}})
		}
		d := doc(b,
			bson.D{{Key: "_id", Value: bson.ObjectID{byte(i >> 8), byte(i)}}, {Key: "type", Value: "publication"},
				{Key: "title", Value: "On the reading of exports, with some remarks on their writing"},
				{Key: "year", Value: 2000 + i%25},
				{Key: "authors", Value: authors}, {Key: "score", Value: float64(i) / 7},
				{Key: "end_date", Value: nil}})
		line, err := bson.MarshalExtJSON(bson.Raw(d), false, false)
		if err != nil {
			b.Fatal(err)
		}
		raw = append(raw, d...)
		lines = append(append(lines, line...), '\n')
	}
	return raw, lines
}

// nowhere is a store that discards everything.
type nowhere struct{}

// Upsert implements origin.Importer.
func (nowhere) Upsert(_ context.Context, _ string, docs []bson.Raw) (origin.UpsertCounts, error) {
	return origin.UpsertCounts{Inserted: len(docs)}, nil
}

// Retain implements origin.Importer.
func (nowhere) Retain(context.Context, string, func(bson.RawValue) bool) (int, error) { return 0, nil }

// BenchmarkRead reads each format once and counts the bytes on disk.
func BenchmarkRead(b *testing.B) {
	raw, lines := activities(b, 2000)
	array := append(append([]byte("["), bytes.ReplaceAll(bytes.TrimSpace(lines), []byte("\n"), []byte(","))...), ']')
	formats := []struct {
		file string
		data []byte
	}{
		{"a.jsonl", lines}, {"a.jsonl.gz", zipped(b, lines)}, {"a.json", array}, {"a.bson", raw},
		{"a.bson.gz", zipped(b, raw)},
		{"a.archive", newArchive(b, "o.a").block("o", "a", raw).end("o", "a").out},
	}
	for _, f := range formats {
		b.Run(f.file, func(b *testing.B) {
			d, err := dump.OpenFS(files{f.file: f.data}.fsys(), f.file, dump.Options{})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(f.data)))
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range d.Sources[0].Documents(context.Background(), nil) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkLoad measures an import without a store behind it.
func BenchmarkLoad(b *testing.B) {
	_, lines := activities(b, 2000)
	d, err := dump.OpenFS(files{"a.jsonl": lines}.fsys(), "a.jsonl", dump.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(lines)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := dump.Load(context.Background(), nowhere{}, d, dump.LoadOptions{Drop: true}); err != nil {
			b.Fatal(err)
		}
	}
}
