package filter_test

import (
	"testing"

	"vitrine/rules/filter"
)

// TestBuild: a filter built by the program equals the one parsed from its text.
func TestBuild(t *testing.T) {
	for text, built := range map[string]*filter.Filter{
		`{}`:                             filter.And(),
		`{"$nor": [{}]}`:                 filter.Not(filter.All()),
		`{"a.b": "x"}`:                   filter.OneOf("a.b", "x"),
		`{"a": {"$in": [1, "x", null]}}`: filter.OneOf("a", nil, "x", 1, 1),
		`{"a.b": {"$exists": true}}`:     filter.Has("a.b"),
		`{"a": {"$in": []}}`:             filter.OneOf("a"),
		`{"a": {"$gte": 1, "$lt": 2}}`: filter.And(filter.Compared("a", filter.Gte, 1), nil,
			filter.Compared("a", filter.Lt, 2)),
		`{"$or": [{"a": 1}, {"b": {"$ne": 2}}]}`: filter.Or(filter.OneOf("a", 1), filter.Not(filter.OneOf("b", 2))),
	} {
		parsed, err := filter.Parse([]byte(text), filter.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if built.Key() != parsed.Key() {
			t.Errorf("%s is built as %s, want %s", text, built.Key(), parsed.Key())
		}
	}
}
