package raw_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/ejson"
	"vitrine/rules/raw"
)

func TestParsePath(t *testing.T) {
	tests := []struct {
		path    string
		parts   []string
		indexes []int
	}{
		{"a", []string{"a"}, []int{-1}},
		{"authors.0.user", []string{"authors", "0", "user"}, []int{-1, 0, -1}},
		{"a.10", []string{"a", "10"}, []int{-1, 10}},
		{"a.01", []string{"a", "01"}, []int{-1, -1}},
		{"a.-1", []string{"a", "-1"}, []int{-1, -1}},
		{"a.+1", []string{"a", "+1"}, []int{-1, -1}},
		{"a.1234567890", []string{"a", "1234567890"}, []int{-1, -1}},
		{"", []string{""}, []int{-1}},
		{"a..b", []string{"a", "", "b"}, []int{-1, -1, -1}},
		{"$a.$b", []string{"$a", "$b"}, []int{-1, -1}},
	}
	for _, tt := range tests {
		p, err := raw.ParsePath(tt.path)
		if err != nil || p.String() != tt.path || !slices.Equal(p.Parts(), tt.parts) || p.Len() != len(tt.parts) {
			t.Errorf("ParsePath(%q) = %q, %v", tt.path, p.Parts(), err)
			continue
		}
		for i, want := range tt.indexes {
			if got := p.Index(i); got != want || p.Name(i) != tt.parts[i] {
				t.Errorf("%q: part %d is %q with index %d, want %d", tt.path, i, p.Name(i), got, want)
			}
		}
	}
}

func TestParsePathRefuses(t *testing.T) {
	for path, want := range map[string]string{
		"a\x00b":                   "zero byte",
		"a.$":                      `positional operator "$"`,
		"a.$[].b":                  `positional operator "$[]"`,
		"a.$[x]":                   `positional operator "$[x]"`,
		strings.Repeat("a.", 200):  "more than 200 parts",
		strings.Repeat(".", 1<<20): "more than 200 parts",
	} {
		_, err := raw.ParsePath(path)
		if !errors.Is(err, rules.ErrWrongCall) || !strings.Contains(err.Error(), want) {
			t.Errorf("ParsePath(%.20q) = %v, want %s", path, err, want)
		}
	}
}

func TestPathParts(t *testing.T) {
	path := parsed(t, "a.b.c")
	if got := path.First(2); !got.Equal(parsed(t, "a.b")) || got.String() != "a.b" {
		t.Errorf("First(2) = %s", got)
	}
	absent := path.Absent(1)
	if got := absent.Parts(); !slices.Equal(got, []string{"a", raw.Nowhere}) || absent.Equal(path) {
		t.Errorf("Absent(1) = %q", got)
	}
	if !path.Equal(parsed(t, "a.b.c")) || path.Equal(parsed(t, "a.b")) || path.Equal(parsed(t, "a.b.d")) {
		t.Error("a path is equal to another one")
	}
}

// parsed parses a path that must be valid.
func parsed(t testing.TB, s string) raw.Path {
	t.Helper()
	p, err := raw.ParsePath(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestWalkWhole(t *testing.T) {
	tests := []struct{ doc, path, want string }{
		{`{"a": [1, 2]}`, "a", "[1,2] "},
		{`{"a": [{"b": [1]}, {"b": 2}]}`, "a.b", "[1] 2 "},
		{`{"a": [[1], 2]}`, "a.0", "[1] "},
		{`{}`, "a", "missing "},
	}
	for _, tt := range tests {
		got := ""
		raw.WalkWhole(doc(t, tt.doc), parsed(t, tt.path), func(v raw.Value) bool {
			if v.Missing {
				got += "missing "
				return true
			}
			got += string(ejson.Append(nil, v.Raw)) + " "
			return true
		})
		if got != tt.want {
			t.Errorf("WalkWhole of %s in %s: %s, want %s", tt.path, tt.doc, got, tt.want)
		}
	}
}

func TestBelow(t *testing.T) {
	tests := []struct{ doc, path, want string }{
		{`{"a": 1, "b": {"c": 2}}`, "", "a b "},
		{`{"a": {"b": 1, "c": 2}}`, "a", "b c "},
		{`{"a": [{"b": 1}, {"c": 2}, 5]}`, "a", "b c 3 false "},
		{`{"a": [[1, 2]]}`, "a", "2 true 1 false "},
		{`{"a": 1}`, "a", ""},
		{`{}`, "a.b", ""},
	}
	for _, tt := range tests {
		var path raw.Path
		if tt.path != "" {
			path = parsed(t, tt.path)
		}
		got := ""
		raw.Below(doc(t, tt.doc), path, func(name []byte) { got += string(name) + " " },
			func(n int, nested bool) { got += fmt.Sprint(n, nested) + " " })
		if got != tt.want {
			t.Errorf("Below %q in %s: %q, want %q", tt.path, tt.doc, got, tt.want)
		}
	}
}

func TestReader(t *testing.T) {
	tests := []struct {
		name, doc, want string
		faulty          bool
	}{
		{"whole", string(doc(t, `{"a": 1, "b": "x"}`)), "a 1 b \"x\" ", false},
		{"empty", "\x05\x00\x00\x00\x00", "", false},
		{"nothing", "", "", false},
		{"length too large", "\x06\x00\x00\x00\x00", "", false},
		{"value cut off", "\x0d\x00\x00\x00\x0aa\x00\x10b\x00\x01\x00\x00", "a null ", true},
		{"unknown type", "\x0b\x00\x00\x00\x0aa\x00\x42b\x00\x00", "a null ", true},
		{"key without end", "\x0a\x00\x00\x00\x0aa\x00\x0ab\x00", "a null ", true},
	}
	for _, tt := range tests {
		got := ""
		for e := range raw.All([]byte(tt.doc)) {
			got += string(e.Key) + " " + string(ejson.Append(nil, e.Value())) + " "
		}
		r := raw.Read([]byte(tt.doc))
		for _, ok := r.Next(); ok; _, ok = r.Next() {
		}
		if got != tt.want || r.Faulty() != tt.faulty {
			t.Errorf("%s: %q, faulty %v, want %q, %v", tt.name, got, r.Faulty(), tt.want, tt.faulty)
		}
	}
}

func TestTexts(t *testing.T) {
	d := doc(t, `{"s": "text", "y": {"$symbol": "sym"}, "n": 1, "r": {"$regularExpression": {"pattern": "a|b", "options": "im"}},
		"c": {"$code": "f()", "$scope": {"x": 1}}, "e": ""}`)
	for name, want := range map[string]string{"s": "text", "y": "", "n": "", "missing": "", "e": ""} {
		if got := raw.StringField(d, name); got != want {
			t.Errorf("StringField(%s) = %q, want %q", name, got, want)
		}
	}
	if got := raw.Text(d.Lookup("y")); got != "sym" {
		t.Errorf("Text of a symbol is %q", got)
	}
	if pattern, options := raw.RegexParts(d.Lookup("r").Value); string(pattern) != "a|b" || string(options) != "im" {
		t.Errorf("RegexParts = %q, %q", pattern, options)
	}
	code, scope := raw.ScopedParts(d.Lookup("c").Value)
	if got := string(ejson.AppendDocument(nil, scope)); string(code) != "f()" || got != `{"x":1}` {
		t.Errorf("ScopedParts = %q, %s", code, got)
	}
	if code, scope := raw.ScopedParts([]byte{1, 2}); code != nil || scope != nil {
		t.Errorf("ScopedParts of two bytes = %q, %q", code, scope)
	}
}

func TestSortUnique(t *testing.T) {
	v := doc(t, `{"v": [3, "a", 1.0, 1, null, "a", {"$numberDecimal": "3.0"}]}`).Lookup("v")
	got := ""
	for _, v := range raw.SortUnique(slices.Collect(raw.Elements(v))) {
		got += string(ejson.Append(nil, v)) + " "
	}
	if want := `null 1.0 3 "a" `; got != want {
		t.Errorf("SortUnique = %s, want %s", got, want)
	}
	for range raw.Elements(bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: doc(t, `{"a": 1}`)}) {
		t.Error("a document returned elements of an array")
	}
}

func TestAppendDecimal(t *testing.T) {
	for _, want := range []string{"0", "-0", "0.00", "1.5", "-12E+3", "1E-7", "0.000001", "NaN", "-Infinity",
		"100000000000000000000.01"} {
		d, err := bson.ParseDecimal128(want)
		if err != nil {
			t.Fatal(err)
		}
		_, v, err := bson.MarshalValue(d)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(raw.AppendDecimal([]byte("x"), v)); got != "x"+d.String() {
			t.Errorf("AppendDecimal(%s) = %s, want x%s", want, got, d)
		}
	}
}
