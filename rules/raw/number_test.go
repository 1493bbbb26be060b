package raw_test

import (
	"math"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/ejson"
	"vitrine/rules/raw"
)

// value parses a value of Extended JSON.
func value(t testing.TB, s string) bson.RawValue {
	t.Helper()
	return bson.RawValue(doc(t, `{"v": `+s+`}`).Lookup("v"))
}

func TestNumberOf(t *testing.T) {
	tests := []struct {
		number string
		kind   raw.NumberKind
		digits string
		exp    int
	}{
		{`0`, raw.NumberZero, "", 0},
		{`-0.0`, raw.NumberZero, "", 0},
		{`{"$numberDecimal": "-0E+10"}`, raw.NumberZero, "", 0},
		{`120`, raw.NumberPositive, "12", 3},
		{`-120.0`, raw.NumberNegative, "12", 3},
		{`{"$numberLong": "-9223372036854775808"}`, raw.NumberNegative, "9223372036854775808", 19},
		{`0.5`, raw.NumberPositive, "5", 0},
		{`0.0625`, raw.NumberPositive, "625", -1},
		{`1e23`, raw.NumberPositive, "99999999999999991611392", 23},
		{`{"$numberDecimal": "0.00120"}`, raw.NumberPositive, "12", -2},
		{`{"$numberDecimal": "9999999999999999999999999999999999"}`, raw.NumberPositive,
			"9999999999999999999999999999999999", 34},
		{`{"$numberDecimal": "-1E-6176"}`, raw.NumberNegative, "1", -6175},
		{`{"$numberDecimal": "100000000000000000000"}`, raw.NumberPositive, "1", 21},
		{`{"$numberDecimal": "NaN"}`, raw.NumberNaN, "", 0},
		{`{"$numberDecimal": "-Infinity"}`, raw.NumberNegInf, "", 0},
		{`{"$numberDouble": "Infinity"}`, raw.NumberPosInf, "", 0},
	}
	for _, tt := range tests {
		n := raw.NumberOf(value(t, tt.number))
		if n.Kind != tt.kind || string(n.Digits) != tt.digits || n.Exp != tt.exp {
			t.Errorf("NumberOf(%s) = %v %s %d, want %v %s %d", tt.number, n.Kind, n.Digits, n.Exp, tt.kind, tt.digits,
				tt.exp)
		}
	}
}

func TestTruncate(t *testing.T) {
	tests := []struct {
		number       string
		want         int64
		integral, ok bool
	}{
		{`7`, 7, true, true},
		{`-7.0`, -7, true, true},
		{`-7.9`, -7, false, true},
		{`1e300`, 0, false, false},
		{`{"$numberDouble": "NaN"}`, 0, false, false},
		{`{"$numberDecimal": "NaN"}`, 0, false, false},
		{`{"$numberDecimal": "Infinity"}`, 0, false, false},
		{`{"$numberDecimal": "0.000"}`, 0, true, true},
		{`{"$numberDecimal": "-0.999"}`, 0, false, true},
		{`{"$numberDecimal": "12.30"}`, 12, false, true},
		{`{"$numberDecimal": "1.2E+3"}`, 1200, true, true},
		{`{"$numberDecimal": "9223372036854775807"}`, math.MaxInt64, true, true},
		{`{"$numberDecimal": "-9223372036854775808"}`, math.MinInt64, true, true},
		{`{"$numberDecimal": "9223372036854775808"}`, 0, true, false},
		{`{"$numberDecimal": "9223372036854775808.5"}`, 0, false, false},
		{`{"$numberDecimal": "1E+30"}`, 0, true, false},
		{`"7"`, 0, false, false},
	}
	for _, tt := range tests {
		got, integral, ok := raw.Truncate(value(t, tt.number))
		if got != tt.want || integral != tt.integral || ok != tt.ok {
			t.Errorf("Truncate(%s) = %d, %v, %v, want %d, %v, %v", tt.number, got, integral, ok, tt.want, tt.integral,
				tt.ok)
		}
	}
}

func TestTruth(t *testing.T) {
	for s, want := range map[string]bool{
		`true`: true, `false`: false, `null`: false, `{"$undefined": true}`: false, `0`: false, `-0.0`: false,
		`{"$numberDecimal": "0E+3"}`: false, `{"$numberDecimal": "1E-6176"}`: true, `{"$numberDouble": "NaN"}`: true,
		`""`: true, `[]`: true, `{}`: true, `"x"`: true,
	} {
		if got := raw.Truth(value(t, s)); got != want {
			t.Errorf("Truth(%s) = %v", s, got)
		}
	}
	if raw.Truth(bson.RawValue{}) {
		t.Error("a missing value is true")
	}
}

func TestCheck(t *testing.T) {
	deep := func(levels int) bson.Raw {
		d := doc(t, `{}`)
		for range levels - 1 {
			var b raw.Builder
			b.Add("a", bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: d})
			d = b.Document()
		}
		return d
	}
	tests := map[string]struct {
		doc  bson.Raw
		want string // the error; empty if none
	}{
		"whole":        {doc(t, `{"a": [1, {"b": "x"}], "c": {"$code": "f", "$scope": {"d": true}}}`), ""},
		"deepest":      {deep(raw.MaxDepth), ""},
		"nothing":      {nil, "length does not fit the document"},
		"bytes behind": {append(doc(t, `{}`), 0), "length does not fit the document"},
		"no end":       {bson.Raw{5, 0, 0, 0, 1}, "document does not end with a zero byte"},
		"unknown type": {bson.Raw("\x08\x00\x00\x00\x42a\x00\x00"), `field "a": unknown type 0x42`},
		"cut off": {bson.Raw("\x0a\x00\x00\x00\x10a\x00\x01\x00\x00"),
			`field "a": 32-bit integer is cut off or malformed`},
		"boolean": {bson.Raw("\x09\x00\x00\x00\x08a\x00\x02\x00"), `field "a": boolean is neither 0 nor 1`},
		"string of none": {bson.Raw("\x0d\x00\x00\x00\x02a\x00\x00\x00\x00\x00\x00\x00"),
			`field "a": string is cut off or malformed`},
		"below": {bson.Raw("\x11\x00\x00\x00\x03a\x00\x09\x00\x00\x00\x08b\x00\x02\x00\x00"),
			`field "a.b": boolean is neither 0 nor 1`},
		"field name": {bson.Raw("\x08\x00\x00\x00\x0aabc"), "document does not end with a zero byte"},
		"regex":      {bson.Raw("\x0a\x00\x00\x00\x0ba\x00xy\x00"), `field "a": regex is cut off or malformed`},
		"negative binary": {bson.Raw("\x0d\x00\x00\x00\x05a\x00\xff\xff\xff\xff\x00\x00"),
			`field "a": binary is cut off or malformed`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := raw.Check(tt.doc); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("Check = %q, want %q", got, tt.want)
			}
			value := bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: tt.doc}
			if err := raw.CheckValue(value); (err == nil) != (tt.want == "") {
				t.Errorf("CheckValue = %v", err)
			}
		})
	}
	if err := raw.Check(deep(raw.MaxDepth + 1)); err == nil {
		t.Error("a document deeper than MaxDepth is accepted")
	}
}

func TestCheckStorable(t *testing.T) {
	tests := map[string]struct{ id, err string }{
		`{"a": 1}`:                          {"null", ""},
		`{"a": 1, "_id": "x"}`:              {`"x"`, ""},
		`{"_id": [1]}`:                      {"", "_id may not be of type array"},
		`{"_id": {"$undefined": true}}`:     {"", "_id may not be of type undefined"},
		`{"$set": 1}`:                       {"", `field "$set": a document's own fields may not begin with $`},
		`{"a": {"$set": 1, "b": 1, "c":1}}`: {"null", ""},
	}
	for s, tt := range tests {
		id, err := raw.CheckStorable(doc(t, s))
		if err != nil && err.Error() != tt.err ||
			err == nil && (tt.err != "" || string(ejson.Append(nil, id)) != tt.id) {
			t.Errorf("CheckStorable(%s) = %s, %v, want %s, %q", s, id, err, tt.id, tt.err)
		}
	}
}

func TestSortDocuments(t *testing.T) {
	path := func(s string) raw.Path {
		p, err := raw.ParsePath(s)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	docs := []bson.Raw{
		doc(t, `{"_id": 3, "a": 1, "b": 2}`), doc(t, `{"_id": 1, "a": [0, 5]}`),
		doc(t, `{"_id": 2, "a": 1.0, "b": 9}`),
		doc(t, `{"_id": 5, "b": 1}`), doc(t, `{"_id": 4, "a": 1, "b": 2}`),
	}
	tests := map[string]struct {
		order raw.Sort
		want  string
	}{
		"none":       {nil, "3 1 2 5 4 "},
		"by _id":     {raw.Sort{raw.ByID}, "1 2 3 4 5 "},
		"stable":     {raw.Sort{{Path: path("a")}}, "5 1 3 2 4 "},
		"descending": {raw.Sort{{Path: path("a"), Desc: true}}, "1 3 2 4 5 "},
		"two fields": {raw.Sort{{Path: path("a")}, {Path: path("b"), Desc: true}}, "5 1 2 3 4 "},
	}
	for name, tt := range tests {
		sorted := append([]bson.Raw(nil), docs...)
		tt.order.Documents(sorted)
		got := ""
		for _, d := range sorted {
			got += string(ejson.Append(nil, d.Lookup("_id"))) + " "
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}
