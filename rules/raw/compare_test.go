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
	{`{"$numberLong": "-9223372036854775808"}`, `{"$numberDouble": "-9223372036854775808"}`,
		`{"$numberDecimal": "-9223372036854775808"}`},
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
					va, errA := parseValue([]byte(a), ejson.Options{})
					vb, errB := parseValue([]byte(b), ejson.Options{})
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

// parseValue reads a text that is one JSON value of any kind.
func parseValue(src []byte, o ejson.Options) (bson.RawValue, error) {
	doc, err := ejson.Parse(slices.Concat([]byte(`{"v":`), src, []byte(`}`)), o)
	return doc.Lookup("v"), err
}
