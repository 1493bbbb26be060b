package filter_test

import (
	"testing"

	"vitrine/rules/filter"
)

// activity is a record of the size that the views hold.
const activity = `{"_id": {"$oid": "5f0000000000000000000001"}, "id": "1234", "type": "publication", "subtype": "article",
	"title": "Comparative genomics of marine bacteria reveals niche-specific adaptations in the North Sea",
	"authors": [{"first": "Ann", "last": "Example", "user": "ann", "affiliated": true, "units": ["bio", "sea"]},
		{"first": "Bob", "last": "Sample", "user": "bob", "affiliated": false}, {"first": "Cid", "last": "Third", "user": null}],
	"journal": "Journal of Examples", "doi": "10.1000/xyz123", "year": 2021, "month": 5, "units": ["bio", "sea", "lab"],
	"topics": ["t1", "t2"], "affiliated": true, "workflow": {"status": "verif"}, "impact": 3.25}`

var benchmarks = []struct{ name, query string }{
	{"equal", `{"type": "publication"}`},
	{"range", `{"year": {"$gte": 2015, "$lt": 2022}}`},
	{"dotted array", `{"authors.user": "bob"}`},
	{"in", `{"subtype": {"$in": ["book", "chapter", "article", "review", "editorial"]}}`},
	{"elemMatch", `{"authors": {"$elemMatch": {"user": "ann", "affiliated": true}}}`},
	{"regex literal", `{"title": {"$regex": "adaptations"}}`},
	{"regex fold", `{"title": {"$regex": "ADAPTATIONS", "$options": "i"}}`},
	{"regex fold miss", `{"title": {"$regex": "zebrafish", "$options": "i"}}`},
	{"regex", `{"title": {"$regex": "marine.*(sea|ocean)", "$options": "i"}}`},
	{"regex look-ahead", `{"title": {"$regex": "marine(?= bact)"}}`},
	{"several",
		`{"type": "publication", "year": {"$gte": 2015}, "$or": [{"units": "lab"}, {"topics": {"$size": 0}}], ` +
			`"authors.user": {"$ne": "zoe"}}`},
	{"expr", `{"$expr": {"$gt": ["$impact", "$month"]}}`},
}

func BenchmarkParse(b *testing.B) {
	for _, bm := range benchmarks {
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := filter.Parse([]byte(bm.query), filter.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkMatch(b *testing.B) {
	d := doc(b, activity)
	for _, bm := range benchmarks {
		b.Run(bm.name, func(b *testing.B) {
			f, err := filter.Parse([]byte(bm.query), filter.Options{})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := f.Match(d); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
