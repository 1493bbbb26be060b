package filter_test

import (
	"strings"
	"testing"

	"vitrine/rules/filter"
)

// TestFields: the fields of a filter are found under each of its operators.
func TestFields(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: "", `{"a": 1, "b.c": {"$gt": 2}}`: "a b.c",
		`{"$or": [{"a": 1}, {"$nor": [{"b": 1}, {"a": 2}]}]}`:                "a b",
		`{"a": {"$not": {"$in": [1]}}}`:                                      "a",
		`{"a": {"$elemMatch": {"b": 1, "c.d": {"$elemMatch": {"$gt": 1}}}}}`: "a.b a.c.d",
		`{"$expr": {"$eq": ["$a", 1]}}`:                                      "",
	} {
		f, err := filter.Parse([]byte(text), filter.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(f.Fields(), " "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
