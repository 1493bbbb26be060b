package filter_test

import (
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"vitrine/rules/filter"
	"vitrine/rules/filter/filtertest"
	"vitrine/rules/raw"
)

// parse parses a filter made for a test.
func parse(t rapid.TB, query bson.Raw) *filter.Filter {
	t.Helper()
	f, err := filter.FromBSON(query, filter.Options{})
	if err != nil {
		t.Fatalf("FromBSON(%s): %v", query, err)
	}
	return f
}

func match(t rapid.TB, f *filter.Filter, d bson.Raw) bool {
	t.Helper()
	ok, err := f.Match(d)
	if err != nil {
		t.Fatalf("Match(%s): %v", d, err)
	}
	return ok
}

func query(t rapid.TB, d bson.D) bson.Raw {
	t.Helper()
	raw, err := bson.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func list(key string, queries ...bson.Raw) bson.D {
	array := bson.A{}
	for _, q := range queries {
		array = append(array, q)
	}
	return bson.D{{Key: key, Value: array}}
}

func TestLogicalLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, x, y := filtertest.Doc(t), filtertest.Filter(t), filtertest.Filter(t)
		a, b := match(t, parse(t, x), d), match(t, parse(t, y), d)
		laws := []struct {
			query bson.D
			want  bool
		}{
			{list("$and", x, y), a && b},
			{list("$or", x, y), a || b},
			{list("$nor", x, y), !a && !b},
			{list("$nor", x), !a},
		}
		for _, law := range laws {
			if got := match(t, parse(t, query(t, law.query)), d); got != law.want {
				t.Fatalf("%s on %s = %v, want %v", law.query, d, got, law.want)
			}
		}
		if got := match(t, filter.And(parse(t, x), nil, parse(t, y)), d); got != (a && b) {
			t.Fatalf("And(%s, %s) on %s = %v", x, y, d, got)
		}
	})
}

func TestOperatorLaws(t *testing.T) {
	paths := rapid.SampledFrom([]string{"a", "a.b", "a.0", "b.c", "c.0.a", "missing"})
	rapid.Check(t, func(t *rapid.T) {
		d, v, path := filtertest.Doc(t), filtertest.Value(t), paths.Draw(t, "path")
		if v.Type == bson.TypeUndefined || v.Type == bson.TypeRegex {
			return
		}
		holds := func(operator string, operand any) bool {
			q := bson.D{{Key: path, Value: bson.D{{Key: operator, Value: operand}}}}
			return match(t, parse(t, query(t, q)), d)
		}
		eq := holds("$eq", v)
		if holds("$ne", v) == eq {
			t.Fatalf("$ne is not the opposite of $eq at %s: %s on %s", path, v, d)
		}
		if holds("$in", bson.A{v}) != eq || holds("$in", bson.A{v, v, "nowhere"}) != (eq || holds("$eq", "nowhere")) {
			t.Fatalf("$in is not a disjunction of $eq at %s: %s on %s", path, v, d)
		}
		if holds("$nin", bson.A{v}) == eq || holds("$all", bson.A{v}) != eq {
			t.Fatalf("$nin or $all of one value differ from $ne and $eq at %s: %s on %s", path, v, d)
		}
		if holds("$not", bson.D{{Key: "$gt", Value: v}}) == holds("$gt", v) {
			t.Fatalf("$not does not negate at %s: %s on %s", path, v, d)
		}
		if holds("$gte", v) != (holds("$gt", v) || eq) && v.Type != bson.TypeMinKey && v.Type != bson.TypeMaxKey {
			t.Fatalf("$gte is not $gt or $eq at %s: %s on %s", path, v, d)
		}
		if holds("$exists", true) == holds("$exists", false) {
			t.Fatalf("$exists at %s on %s", path, d)
		}
	})
}

// TestKey: a filter keeps its key however its conditions are joined and ordered, and filters with
// the same key match the same documents.
func TestKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y, d := filtertest.Filter(t), filtertest.Filter(t), filtertest.Doc(t)
		fx, fy := parse(t, x), parse(t, y)
		if again := parse(t, slices.Clone(x)); again.Key() != fx.Key() {
			t.Fatalf("keys differ between two parses: %s", x)
		}
		joined := filter.And(fx, fy).Key()
		for _, other := range []string{filter.And(fy, fx).Key(), filter.And(fx, fy, fx).Key(),
			parse(t, query(t, list("$and", y, x))).Key()} {
			if other != joined {
				t.Fatalf("keys of a conjunction differ:\n%s\n%s", joined, other)
			}
		}
		if fx.Key() == fy.Key() && match(t, fx, d) != match(t, fy, d) {
			t.Fatalf("one key, two meanings: %s and %s on %s", x, y, d)
		}
	})
}

func TestKeySpelling(t *testing.T) {
	same := [][]string{
		{`{}`, ` { } `, `{"$and": [{}]}`, `{"$comment": "x"}`},
		{`{"a": 1}`, `{"a": {"$eq": 1}}`, `{"a": 1.0}`, `{"a": {"$numberLong": "1"}}`, `{"$and": [{"a": 1}]}`,
			`{"a": {"$in": [1]}}`, `{"a": {"$numberDecimal": "1.0"}}`, `{"a": {"$all": [1]}}`},
		{`{"a": 1, "b": 2}`, `{"b": 2, "a": 1}`, `{"$and": [{"b": 2}, {"a": 1}]}`},
		{`{"a": {"$gt": 1, "$lt": 5}}`, `{"a": {"$lt": 5, "$gt": 1}}`,
			`{"$and": [{"a": {"$gt": 1}}, {"a": {"$lt": 5}}]}`},
		{`{"a": {"$in": [2, 1, 1]}}`, `{"a": {"$in": [1, 2.0]}}`},
		{`{"$nor": [{"a": 1}]}`, `{"a": {"$ne": 1}}`, `{"a": {"$not": {"$eq": 1}}}`},
		{`{"$or": [{"a": 1}, {"b": 1}]}`, `{"$or": [{"b": 1}, {"a": 1}]}`,
			`{"$or": [{"b": 1}, {"$or": [{"a": 1}]}]}`},
		{`{"a": {"$regex": "x", "$options": "mi"}}`,
			`{"a": {"$regularExpression": {"pattern": "x", "options": "im"}}}`},
		{`{"a": {"$type": "number"}}`, `{"a": {"$type": ["int", "long", "double", "decimal"]}}`},
		{`{"a": {"$bitsAllSet": 5}}`, `{"a": {"$bitsAllSet": [2, 0]}}`},
		{`{"a": "1"}`}, {`{"a": [1]}`}, {`{"a": {"0": 1}}`}, {`{"a": null}`}, {`{"a": "null"}`}, {`{"a": true}`},
		{`{"a.b": 1}`}, {`{"a": {"b": 1}}`}, {`{"a": {"$elemMatch": {"$gt": 1}}}`},
		{`{"a": {"$elemMatch": {"b": 1}}}`},
		{`{"a": {"x": 1, "y": 2}}`}, {`{"a": {"y": 2, "x": 1}}`}, {`{"a": 0.5}`}, {`{"a": {"$exists": true}}`},
		{`{"$expr": {"$eq": ["$a", 1]}}`}, {`{"$expr": {"$eq": ["$a", 1.0]}}`}, {`{"a": {"$size": 1}}`},
		{`{"a": {"$mod": [1, 0]}}`},
	}
	owner := map[string]int{}
	for i, group := range same {
		for _, text := range group {
			f, err := filter.Parse([]byte(text), filter.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if j, ok := owner[f.Key()]; ok && j != i {
				t.Errorf("%s has the key of %s: %s", text, same[j][0], f.Key())
			} else if !ok && text != group[0] {
				t.Errorf("%s lacks the key of %s: %s", text, group[0], f.Key())
			}
			owner[f.Key()] = i
		}
	}
}

func TestCompareIsATotalOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := filtertest.Value(t), filtertest.Value(t), filtertest.Value(t)
		if raw.Compare(a, a) != 0 {
			t.Fatalf("%s differs from itself", a)
		}
		if raw.Compare(a, b) != -raw.Compare(b, a) {
			t.Fatalf("the order of %s and %s depends on their sides", a, b)
		}
		if raw.Compare(a, b) <= 0 && raw.Compare(b, c) <= 0 && raw.Compare(a, c) > 0 {
			t.Fatalf("%s ≤ %s ≤ %s, but the first is above the last", a, b, c)
		}
	})
}
