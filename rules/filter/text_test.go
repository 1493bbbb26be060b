package filter_test

import (
	"testing"

	"vitrine/rules/filter"
)

func TestText(t *testing.T) {
	for json, want := range map[string]string{
		`{"year":{"$gte":2020}}`:                                 "year >= 2020",
		`{"type":{"$ne":"a"}}`:                                   `type != "a"`,
		`{"type":{"$nin":["a",null]}}`:                           `type not in (null, "a")`,
		`{"$or":[{"a":1},{"b":{"$exists":true},"c":{"$lt":2}}]}`: "a = 1 or (b existing and c < 2)",
		`{"$nor":[{"a":1},{"b":2}]}`:                             "not (a = 1 or b = 2)",
		`{"t":{"$regex":"x","$options":"i"}}`:                    "t like /x/i",
		`{"a":{"$elemMatch":{"b":1,"c":2}}}`:                     "an element of a has (b = 1 and c = 2)",
		`{"a":{"$elemMatch":{"$gt":1}}}`:                         "an element of a is (> 1)",
		`{"a":{"$size":2}}`:                                      "a Size&{2}",
		`{}`:                                                     "everything",
	} {
		f, err := filter.Parse([]byte(json), filter.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := filter.Text(f.Root()); got != want {
			t.Errorf("%s: %s, want %s", json, got, want)
		}
	}
}

func TestOrigin(t *testing.T) {
	own, rule := filter.OneOf("a", 1), filter.And(filter.OneOf("b", 1), filter.OneOf("c", 1).As("inner"))
	joined := filter.And(own.As("json"), rule.As("rule"), filter.All().As("none"))
	want := map[string]string{"a = 1": "json", "b = 1": "rule", "c = 1": "inner"}
	for _, n := range joined.Root().(*filter.AndNode).Nodes {
		if got := joined.Origin(n); got != want[filter.Text(n)] {
			t.Errorf("%s comes from %q, want %q", filter.Text(n), got, want[filter.Text(n)])
		}
	}
}
