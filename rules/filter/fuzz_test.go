package filter_test

import (
	"errors"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/filter"
	"vitrine/rules/filter/filtertest"
	"vitrine/rules/raw"
)

// FuzzParse: any text is a filter or a wrong call, and a filter has one key.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"a": {"$gt": 1, "$in": [1, null]}}`, `{"$or": [{"a.0.b": {"$elemMatch": {"$ne": 1}}}]}`,
		`{"a": {"$regex": "(?<n>a|b)++\\k<n>[^[:alpha:]\\d-]{2,3}?$", "$options": "imsx"}}`,
		`{"a": {"$not": {"$regularExpression": {"pattern": "^\\p{L}(?=x)", "options": "i"}}}}`,
		`{"$expr": {"$filter": {"input": "$a", "as": "x", "cond": {"$regexMatch": {"input": "$$x.b", "regex": "a"}}` +
			`}}}`,
		`{"$expr": {"$eq": [{"$dateToString": {"date": {"$dateTrunc": {"date": "$a", "unit": "month"}},
			"format": "%Y"}}, {"$substrCP": [{"$toLower": "$b"}, 0, {"$mod": ["$c", 3]}]}]}}`,
		`{"$expr": {"$gt": [{"$avg": ["$a", {"$numberDecimal": "1"}]},
			{"$multiply": ["$b", {"$ifNull": ["$c", 2.5]}]}]}}`,
		`{"$expr": {"$cond": [{"$gt": ["$a.b", {"$add": [1, "$c"]}]}, true, {"$literal": "$x"}]}}`,
		`{"a": {"$type": ["number", 2], "$mod": [4, 1.5], "$bitsAllSet": [1, 5], "$size": 2}}`,
		`{"a": {"$all": [{"$elemMatch": {"b": 1}}]}, "$nor": [{"b": {"$numberDecimal": "1E-6176"}}]}`,
	} {
		f.Add(seed)
	}
	docs := []bson.Raw{filtertest.New(1).Doc(), filtertest.New(2).Doc()}
	f.Fuzz(func(t *testing.T, text string) {
		o := filter.Options{Now: time.Unix(1, 0)}
		q, err := filter.Parse([]byte(text), o)
		if err != nil {
			var fault *rules.Error
			if !errors.As(err, &fault) || !errors.Is(err, rules.ErrWrongCall) || fault.Reason == "" {
				t.Fatalf("Parse(%q) error = %#v, want a *rules.Error", text, err)
			}
			return
		}
		if again, err := filter.Parse([]byte(text), o); err != nil || again.Key() != q.Key() {
			t.Fatalf("Parse(%q) again: %v, other key", text, err)
		}
		for _, d := range docs {
			if _, err := q.Match(d); err != nil && !errors.Is(err, rules.ErrWrongCall) {
				t.Fatalf("Match: %v", err)
			}
		}
	})
}

// FuzzMatch: any bytes are a document, and filters obey the laws of logic on them.
func FuzzMatch(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed, []byte(filtertest.New(seed).Doc()))
		f.Add(seed, []byte(filtertest.New(seed).Plain()))
	}
	path, err := raw.ParsePath("a.0.b")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, seed uint64, d []byte) {
		g := filtertest.New(seed)
		x := g.Filter()
		got := match(t, parse(t, x), d)
		if match(t, parse(t, query(t, list("$nor", x))), d) == got {
			t.Fatalf("$nor agrees with %s on %v", x, d)
		}
		if e, err := filter.FromBSON(g.Expression(), filter.Options{}); err == nil {
			if _, err := e.Match(d); err != nil && !errors.Is(err, rules.ErrWrongCall) {
				t.Fatalf("an expression on %v: %v", d, err)
			}
		}
		key := raw.SortField{Path: path}.Key(d)
		if raw.Compare(key, key) != 0 {
			t.Fatalf("a sort key differs from itself: %v", key)
		}
	})
}
