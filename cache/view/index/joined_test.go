package index_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view/index"
	"vitrine/rules/ejson"
	"vitrine/rules/raw"
)

// counted is a value with its number of occurrences.
type counted struct {
	value bson.RawValue
	n     int
}

// TestGroups groups the elements of an array as MongoDB's $group does.
func TestGroups(t *testing.T) {
	tests := []struct{ values, want string }{
		{`[]`, ``},
		{`["b", "a", "b"]`, `"a" 1, "b" 2, `},
		{`[1.0, {"$numberLong": "1"}, 1, {"$numberDecimal": "1.00"}, 2]`, `1.0 4, 2 1, `},
		{`[{"$numberDecimal": "1.00"}, {"$numberDecimal": "1.0"}]`, `{"$numberDecimal":"1.0"} 2, `},
		{`[null, {"$undefined": true}, 0, false]`, `null 2, 0 1, false 1, `},
		{`[{"a": 1}, {"a": 1.0}, {"b": 1}]`, `{"a":1} 2, {"b":1} 1, `},
	}
	for _, tt := range tests {
		t.Run(tt.values, func(t *testing.T) {
			doc, err := ejson.Parse([]byte(`{"v":`+tt.values+`}`), ejson.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var groups raw.Groups[counted]
			for e := range raw.Elements(doc.Lookup("v")) {
				g, fresh := groups.At(raw.OrNull(e))
				if fresh {
					g.value = raw.OrNull(e)
				}
				g.n++
			}
			value, join := func(c counted) bson.RawValue { return c.value }, func(into, from *counted) {
				into.n += from.n
			}
			all, err := index.JoinEqual(t.Context(), groups.All, value, join)
			if err != nil {
				t.Fatal(err)
			}
			var got []byte
			for _, g := range all {
				got = append(ejson.Append(got, g.value), ' ', '0'+byte(g.n), ',', ' ')
			}
			if string(got) != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}
