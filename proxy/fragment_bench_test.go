package proxy_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/proxy/api"
	"vitrine/rules"
)

// BenchmarkFragments encodes what is prepared of an activity.
func BenchmarkFragments(b *testing.B) {
	docs := documents(b, "testdata/activities.jsonl")
	for _, def := range api.Views() {
		if def.Name != rules.ViewActivities {
			continue
		}
		for _, fragment := range def.Fragments {
			parts := fragment.Parts
			if parts == nil {
				parts = append(parts, fragment)
			}
			b.Run(fragment.Name, func(b *testing.B) {
				b.ReportAllocs()
				var out []byte
				encode := func(doc bson.Raw) {
					for _, part := range parts {
						out = part.Encode(out, doc)
					}
				}
				for b.Loop() {
					out = out[:0]
					for _, doc := range docs {
						encode(doc)
					}
				}
				b.SetBytes(int64(len(out)))
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(docs)), "ns/row")
			})
		}
	}
}
