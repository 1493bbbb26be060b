package ejson_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/ejson"
)

// activity is a record of typical shape and size, about 1.5 KB.
func activity(tb testing.TB) []byte {
	authors := bson.A{}
	for i := range 6 {
		authors = append(authors, bson.D{
			{Key: "first", Value: "Zoltán"}, {Key: "last", Value: fmt.Sprintf("Takács-%d", i)},
			{Key: "user", Value: nil},
			{Key: "position", Value: "middle"}, {Key: "approved", Value: true}, {Key: "affiliated", Value: i%2 == 0},
		})
	}
	topics := bson.A{}
	for i := range 5 {
		topics = append(topics,
			bson.D{{Key: "id", Value: fmt.Sprintf("T%05d", 10000+i)}, {Key: "score", Value: 0.9134 - float64(i)/8}})
	}
	html :=
		`<b>Takács, Z.</b> (2021) <a href="/activities/view/7d752062dad867dc44abbf0a">A Bidirectional Alignment ` +
			`Model for Words</a>. <i>Proceedings</i>, 12&ndash;34.`
	doc, err := bson.Marshal(bson.D{
		{Key: "_id", Value: bson.ObjectID{1, 2, 3}}, {Key: "type", Value: "publication"},
		{Key: "subtype", Value: "article"},
		{Key: "title", Value: "A Bidirectional Transformer Based Alignment Model for Unsupervised Word Alignment"},
		{Key: "authors", Value: authors}, {Key: "year", Value: int32(2021)}, {Key: "month", Value: int32(8)},
		{Key: "day", Value: int32(1)},
		{Key: "start_date", Value: "2021-08-01"}, {Key: "created", Value: bson.DateTime(1627776000123)},
		{Key: "units", Value: bson.A{"DH", "ILS"}},
		{Key: "doi", Value: "10.18653/v1/2021.acl-long.24"},
		{Key: "catalog", Value: bson.D{{Key: "topics", Value: topics}}},
		{Key: "rendered", Value: bson.D{{Key: "web", Value: html}, {Key: "print", Value: html},
			{Key: "icon", Value: `<i class="ph ph-book"></i>`}}},
	})
	require.NoError(tb, err)
	return doc
}

const filter = `{"$and":[{"year":{"$gte":2019,"$lt":2024}},{"authors.user":{"$in":["abc","def"]}},` +
	`{"title":{"$regex":"alignment","$options":"i"}},{"_id":{"$ne":{"$oid":"507f1f77bcf86cd799439011"}}}]}`

func BenchmarkParse(b *testing.B) {
	texts := map[string][]byte{"filter": []byte(filter), "activity": ejson.AppendDocument(nil, activity(b))}
	for name, text := range texts {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ejson.Parse(text, ejson.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("driver-"+name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				var doc bson.Raw
				if err := bson.UnmarshalExtJSON(text, false, &doc); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	doc := activity(b)
	b.Run("activity", func(b *testing.B) {
		var dst []byte
		b.SetBytes(int64(len(doc)))
		b.ReportAllocs()
		for b.Loop() {
			dst = ejson.AppendDocument(dst[:0], doc)
		}
	})
	b.Run("driver-activity", func(b *testing.B) {
		b.SetBytes(int64(len(doc)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := bson.MarshalExtJSON(bson.Raw(doc), false, false); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkAppendString(b *testing.B) {
	texts := map[string]string{
		"key":   "affiliated",
		"title": "A Bidirectional Transformer Based Alignment Model for Unsupervised Word Alignment",
		"utf8":  "Über die Syntax des Ungarischen: Zoltán Takács, Søren Jovičić und Clémence van den Akker",
		"html": `<b>Takács, Z.</b> <a href="/activities/view/7d752062dad867dc44abbf0a" class="title">A ` +
			`Bidirectional Model</a>`,
	}
	for name, text := range texts {
		b.Run(name, func(b *testing.B) {
			var dst []byte
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				dst = ejson.AppendString(dst[:0], text)
			}
		})
	}
}

// TestAppendAllocatesNothing: the writer uses only the caller's buffer, except for decimals.
func TestAppendAllocatesNothing(t *testing.T) {
	every, err := bson.Marshal(bson.D{
		{Key: "a", Value: bson.Raw(activity(t))}, {Key: "b", Value: "\xff\"\n"}, {Key: "c", Value: 1.5e300},
		{Key: "e", Value: bson.Binary{Data: make([]byte, 100)}},
		{Key: "f", Value: bson.Regex{Pattern: "p", Options: "i"}},
		{Key: "g", Value: bson.CodeWithScope{Code: "f", Scope: bson.D{}}}, {Key: "h", Value: bson.Timestamp{T: 1}},
		{Key: "i", Value: bson.DateTime(-5)},
	})
	require.NoError(t, err)
	dst := make([]byte, 0, 1<<16)
	got := testing.AllocsPerRun(100, func() {
		dst = ejson.AppendDocument(dst[:0], every)
	})
	require.Zero(t, got)
}
