package raw_test

import (
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/ejson"
	"vitrine/rules/raw"
)

// ascending lists values in MongoDB's order; values on one line are equal.
var ascending = [][]string{
	{`{"$minKey": 1}`},
	{`{"$undefined": true}`},
	{`null`},
	{`{"$numberDouble": "NaN"}`, `{"$numberDecimal": "NaN"}`, `{"$numberDecimal": "-NaN"}`},
	{`{"$numberDouble": "-Infinity"}`, `{"$numberDecimal": "-Infinity"}`},
	{`{"$numberDecimal": "-9.999999999999999999999999999999999E+6144"}`},
	{`{"$numberDouble": "-1.7976931348623157E+308"}`},
	{`{"$numberDecimal": "-9223372036854775809"}`},
	{`{"$numberLong": "-9223372036854775808"}`, `{"$numberDouble": "-9223372036854775808"}`, `{"$numberDecimal": "-9223372036854775808"}`},
	{`{"$numberLong": "-9223372036854775807"}`},
	{`-1`, `-1.0`, `{"$numberDecimal": "-1.000"}`},
	{`{"$numberDouble": "-5E-324"}`},
	{`{"$numberDecimal": "-1E-6176"}`},
	{`0`, `{"$numberDouble": "-0.0"}`, `{"$numberLong": "0"}`, `{"$numberDecimal": "-0E+10"}`},
	{`{"$numberDecimal": "1E-6176"}`},
	{`{"$numberDouble": "5E-324"}`},
	{`{"$numberDecimal": "0.1"}`},
	{`0.1`},
	{`{"$numberDecimal": "0.1000000000000000055511151231257828"}`},
	{`0.5`, `{"$numberDecimal": "0.5"}`, `{"$numberDecimal": "5.00E-1"}`},
	{`1`, `{"$numberDecimal": "1"}`},
	{`1.5`},
	{`{"$numberDecimal": "9007199254740991.9"}`},
	{`{"$numberDouble": "9007199254740992"}`, `{"$numberLong": "9007199254740992"}`},
	{`{"$numberLong": "9007199254740993"}`, `{"$numberDecimal": "9007199254740993"}`},
	{`{"$numberLong": "9223372036854775807"}`},
	{`{"$numberDecimal": "9223372036854775807.5"}`},
	{`{"$numberDouble": "9223372036854775808"}`, `{"$numberDecimal": "9223372036854775808"}`},
	{`{"$numberDecimal": "1E+308"}`},
	{`{"$numberDouble": "1E+308"}`},
	{`{"$numberDouble": "1.7976931348623157E+308"}`},
	{`{"$numberDecimal": "1E+309"}`},
	{`{"$numberDouble": "Infinity"}`, `{"$numberDecimal": "Infinity"}`},
	{`""`},
	{`"A"`},
	{`"a"`, `{"$symbol": "a"}`},
	{`"a\u0000"`},
	{`"ab"`},
	{`"ä"`},
	{`{}`},
	{`{"a": null}`},
	{`{"a": 1}`, `{"a": 1.0}`},
	{`{"a": 1, "b": 0}`},
	{`{"a": 2}`},
	{`{"b": 0}`},
	{`{"a": "text"}`},
	{`[]`},
	{`[null]`},
	{`[1]`},
	{`[1, 0]`},
	{`[2]`},
	{`["a"]`},
	{`[[]]`},
	{`{"$binary": {"base64": "", "subType": "05"}}`},
	{`{"$binary": {"base64": "AQ==", "subType": "00"}}`},
	{`{"$binary": {"base64": "/w==", "subType": "00"}}`},
	{`{"$binary": {"base64": "AA==", "subType": "05"}}`},
	{`{"$binary": {"base64": "AAA=", "subType": "00"}}`},
	{`{"$oid": "000000000000000000000000"}`},
	{`{"$oid": "ff0000000000000000000000"}`},
	{`false`},
	{`true`},
	{`{"$date": {"$numberLong": "-1"}}`},
	{`{"$date": {"$numberLong": "0"}}`},
	{`{"$timestamp": {"t": 1, "i": 2}}`},
	{`{"$timestamp": {"t": 4294967295, "i": 0}}`},
	{`{"$regularExpression": {"pattern": "a", "options": ""}}`},
	{`{"$regularExpression": {"pattern": "a", "options": "i"}}`},
	{`{"$regularExpression": {"pattern": "b", "options": ""}}`},
	{`{"$code": "a"}`},
	{`{"$code": "b"}`},
	{`{"$code": "a", "$scope": {"x": 1}}`},
	{`{"$code": "a", "$scope": {"x": 2}}`},
	{`{"$maxKey": 1}`},
}

func TestCompare(t *testing.T) {
	for i, group := range ascending {
		for j, other := range ascending {
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			for _, a := range group {
				for _, b := range other {
					va, errA := ejson.ParseValue([]byte(a), ejson.Options{})
					vb, errB := ejson.ParseValue([]byte(b), ejson.Options{})
					if errA != nil || errB != nil {
						t.Fatal(errA, errB)
					}
					if got := raw.Compare(va, vb); got != want {
						t.Errorf("Compare(%s, %s) = %d, want %d", a, b, got, want)
					}
				}
			}
		}
	}
}

func TestWalk(t *testing.T) {
	tests := []struct {
		doc, path string
		want      []string // elements of the array at the path's end in brackets
	}{
		{`{"a": 1}`, "a", []string{"1"}},
		{`{}`, "a", []string{"missing"}},
		{`{"a": 1}`, "a.b", []string{"missing"}},
		{`{"a": [1, [2]]}`, "a", []string{"(1)", "([2])", "[1,[2]]"}},
		{`{"a": []}`, "a", []string{"[]"}},
		{`{"a": []}`, "a.b", nil},
		{`{"a": [1, 2]}`, "a.b", nil},
		{`{"a": [{"b": 1}, 5, {}, [{"b": 9}]]}`, "a.b", []string{"1", "missing"}},
		{`{"a": [[1, 2], 3]}`, "a.0", []string{"[1,2]"}},
		{`{"a": [{"0": "x"}, 3]}`, "a.0", []string{`"x"`, `{"0":"x"}`}},
		{`{"a": [{"b": [1]}]}`, "a.b", []string{"(1)", "[1]"}},
		{`{"a": [{"b": [1]}]}`, "a.0.b", []string{"missing", "(1)", "[1]"}},
		{`{"a": [[{"b": 1}, {"b": 2}]]}`, "a.0.b", []string{"1", "2"}},
		{`{"a": [[[7]]]}`, "a.0.0", []string{"[7]"}},
		{`{"a": {"b": {"c": 3}}}`, "a.b.c", []string{"3"}},
	}
	for _, tt := range tests {
		t.Run(tt.path+" in "+tt.doc, func(t *testing.T) {
			path, err := raw.ParsePath(tt.path)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			collect := func(v raw.Value) bool {
				s := "missing"
				if !v.Missing {
					s = string(ejson.Append(nil, v.Raw))
				}
				if v.Elem {
					s = "(" + s + ")"
				}
				got = append(got, s)
				return true
			}
			if !raw.Walk(doc(t, tt.doc), path, collect) || !slices.Equal(got, tt.want) {
				t.Errorf("Walk = %v, want %v", got, tt.want)
			}
			if len(got) > 0 && raw.Walk(doc(t, tt.doc), path, func(raw.Value) bool { return false }) {
				t.Error("Walk goes on after being stopped")
			}
		})
	}
}

func TestSortKey(t *testing.T) {
	tests := []struct{ doc, path, asc, desc string }{
		{`{"a": 1}`, "a", "1", "1"},
		{`{}`, "a", "null", "null"},
		{`{"a": [3, 1, 2]}`, "a", "1", "3"},
		{`{"a": []}`, "a", `{"$undefined":true}`, `{"$undefined":true}`},
		{`{"a": [[5], 1]}`, "a", "1", "[5]"},
		{`{"a": {"b": 2}}`, "a.b", "2", "2"},
		{`{"a": [{"b": 2}, {"b": [7, 1]}]}`, "a.b", "1", "7"},
		{`{"a": [{"b": 2}, {}]}`, "a.b", "null", "2"},
		{`{"a": [{"b": 2}, 5]}`, "a.b", "null", "2"},
		{`{"a": []}`, "a.b", "null", "null"},
		{`{"a": 5}`, "a.b", "null", "null"},
		{`{"a": [4, 9]}`, "a.1", "9", "9"},
		{`{"a": [4]}`, "a.1", "null", "null"},
		{`{"a": [{"b": 1}, {"b": 2}]}`, "a.1.b", "2", "2"},
		{`{"a": [[8, 6]]}`, "a.0", "6", "8"},
	}
	for _, tt := range tests {
		t.Run(tt.path+" in "+tt.doc, func(t *testing.T) {
			path, err := raw.ParsePath(tt.path)
			if err != nil {
				t.Fatal(err)
			}
			for desc, want := range map[bool]string{false: tt.asc, true: tt.desc} {
				key := raw.SortField{Path: path, Desc: desc}.Key(doc(t, tt.doc))
				if got := string(ejson.Append(nil, key)); got != want {
					t.Errorf("Key(desc %v) = %s, want %s", desc, got, want)
				}
			}
		})
	}
}

func doc(t testing.TB, s string) bson.Raw {
	t.Helper()
	d, err := ejson.Parse([]byte(s), ejson.Options{})
	if err != nil {
		t.Fatalf("document %s: %v", s, err)
	}
	return d
}
