package filter_test

import (
	"testing"

	"pgregory.net/rapid"

	"vitrine/rules/filter"
	"vitrine/rules/filter/filtertest"
)

// unlimited are the options for filters that the program itself makes.
var unlimited = filter.Options{MaxBytes: 1 << 20, MaxDepth: 200, MaxNodes: 100_000}

func TestQueryIsNeverNarrower(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, err := filter.FromBSON(filtertest.Filter(t), filter.Options{})
		if err != nil {
			t.Skip(err)
		}
		query, exact := filter.Query(f.Root(), "_view")
		wide, err := filter.FromBSON(query, unlimited)
		if err != nil {
			t.Fatalf("%s of %s: %v", query, f.Key(), err)
		}
		for range 20 {
			doc := filtertest.Doc(t)
			want, err := f.Match(doc)
			if err != nil {
				continue
			}
			got, err := wide.Match(doc)
			if err != nil {
				t.Fatal(err)
			}
			if want && !got || exact && got && !want {
				t.Fatalf("%s\n%s\nexact %t: %s matches %t, want %t", doc, f.Key(), exact, query, got, want)
			}
		}
	})
}

func TestQueryText(t *testing.T) {
	for _, c := range []struct {
		filter, query string
		exact         bool
	}{
		{`{}`, `{}`, true},
		{`{"type":"publication","year":{"$gte":2000}}`,
			`{"$and": [{"type": {"$eq": "publication"}},{"year": {"$gte": {"$numberInt":"2000"}}}]}`, true},
		{`{"title":{"$regex":"soil","$options":"i"}}`, `{"title": {"$regex": "soil","$options": "i"}}`, true},
		{`{"title":{"$regex":"^Küchen?","$options":"i"}}`,
			`{"$or": [{"title": {"$regex": "che","$options": "i"}},{"title": {"$type": "regex"}}]}`, false},
		{`{"title":{"$not":{"$regex":"a.b"}}}`, `{}`, false},
		{`{"$or":[{"a":1},{"b":{"$mod":[2,1]}}]}`, `{}`, false},
		{`{"$nor":[{"a":1}]}`, `{"$nor": [{"a": {"$eq": {"$numberInt":"1"}}}]}`, true},
		{`{"authors":{"$elemMatch":{"user":"x","first":{"$ne":"y"}}}}`, `{"authors.user": {"$eq": "x"}}`, false},
		{`{"a":1,"_view.gen":1}`, `{"a": {"$eq": {"$numberInt":"1"}}}`, false},
		{`{"a":{"$in":[]}}`, `{"a": {"$in": []}}`, true},
	} {
		f, err := filter.Parse([]byte(c.filter), filter.Options{})
		if err != nil {
			t.Fatal(err)
		}
		query, exact := filter.Query(f.Root(), "_view")
		if query.String() != c.query || exact != c.exact {
			t.Errorf("%s: %s, exact %t; want %s, %t", c.filter, query, exact, c.query, c.exact)
		}
	}
}
