package spectrum_test

import (
	"fmt"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/spectrum"
)

// madeUp is an institute of n activities, each with three of 4,000 topics and two of a hundred
// persons, in ten units.
func madeUp(b *testing.B, n int) (spectrum.Sources, []bson.Raw) {
	b.Helper()
	var sources spectrum.Sources
	for i := range 10 {
		sources.Units = append(sources.Units,
			encode(b, bson.D{{Key: "id", Value: fmt.Sprint("U", i)}, {Key: "parent", Value: "R"}}))
	}
	for i := range 100 {
		sources.Persons = append(sources.Persons,
			encode(b, bson.D{{Key: "_id", Value: drawID('p', i)}, {Key: "username", Value: fmt.Sprint("p", i)}}))
	}
	activities := make([]bson.Raw, n)
	for i := range activities {
		topics := bson.A{}
		for j := range 3 {
			topics = append(topics, bson.D{
				{Key: "id", Value: fmt.Sprint("T", (i*7+j*j*1000)%4000)}, {Key: "name", Value: "a topic's name"},
				{Key: "score", Value: 0.5 + float64(i%50)/100}, {Key: "domain_id", Value: "3"},
				{Key: "path", Value: "Domain → Field → Subfield"},
			})
		}
		activities[i] = encode(b, bson.D{
			{Key: "_id", Value: bson.ObjectID{0: byte(i >> 16), 1: byte(i >> 8), 2: byte(i)}},
			{Key: "title", Value: "a title of usual length, more or less"},
			{Key: "affiliated", Value: true}, {Key: "year", Value: int32(2000 + i%27)},
			{Key: "units", Value: bson.A{"R", fmt.Sprint("U", i%10), fmt.Sprint("U", i%7)}},
			{Key: "catalog", Value: bson.D{{Key: "topics", Value: topics}}},
			{Key: "rendered", Value: bson.D{{Key: "web", Value: "<a href='/x'>a title</a>"},
				{Key: "users", Value: bson.A{fmt.Sprint("p", i%100), fmt.Sprint("p", i%99)}}}},
		})
	}
	return sources, activities
}

// A summary of 10,000 activities from the first to the last row.
func BenchmarkSummary(b *testing.B) {
	sources, activities := madeUp(b, 10_000)
	b.ReportAllocs()
	for b.Loop() {
		summarise(b, spectrum.Options{}, sources, activities)
	}
}

// The row of one topic as JSON.
func BenchmarkAppendRow(b *testing.B) {
	sources, activities := madeUp(b, 10_000)
	rows := summarise(b, spectrum.Options{}, sources, activities)
	row := slices.MaxFunc(rows, func(a, b bson.Raw) int { return len(a) - len(b) })
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		dst = spectrum.AppendRow(dst[:0], row, 2026, totalsOf(rows))
	}
	b.SetBytes(int64(len(dst)))
}
