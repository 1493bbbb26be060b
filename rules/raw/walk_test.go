package raw_test

import (
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/ejson"
	"vitrine/rules/raw"
)

func TestWalk(t *testing.T) {
	tests := []struct {
		doc, path string
		want      []string // elements of the array at the path's end, in brackets
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

// TestField compares with the values of MongoDB's $project for "$path".
func TestField(t *testing.T) {
	tests := []struct{ doc, path, want string }{
		{`{"a": 1}`, "a", "1"},
		{`{"a": null}`, "a", "null"},
		{`{}`, "a", "missing"},
		{`{"a": [1, [2]]}`, "a", "[1,[2]]"},
		{`{"a": {"b": 1}}`, "a.b", "1"},
		{`{"a": {"b": null}}`, "a.b", "null"},
		{`{"a": {}}`, "a.b", "missing"},
		{`{"a": 1}`, "a.b", "missing"},
		{`{"a": null}`, "a.b", "missing"},
		{`{"a": []}`, "a.b", "[]"},
		{`{"a": [1, 2]}`, "a.b", "[]"},
		{`{"a": [{"b": 1}, 5, {}, {"b": null}, [{"b": 9}], {"b": 2}]}`, "a.b", "[1,null,2]"},
		{`{"a": [{"b": [1]}, {"b": 2}]}`, "a.b", "[[1],2]"},
		{`{"a": [{"b": [{"c": 1}, {"c": 2}]}, {"b": {"c": 3}}, {"b": 4}]}`, "a.b.c", "[[1,2],3]"},
		{`{"a": {"b": [{"c": 1}]}}`, "a.b.c", "[1]"},
		{`{"a": [1, 2]}`, "a.0", "[]"},
		{`{"a": [{"0": "x"}]}`, "a.0", `["x"]`},
		{`{"a": {"0": "x"}}`, "a.0", `"x"`},
	}
	for _, tt := range tests {
		t.Run(tt.path+" in "+tt.doc, func(t *testing.T) {
			v := raw.Field(bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: doc(t, tt.doc)},
				strings.Split(tt.path, "."))
			got := "missing"
			if v.Type != 0 {
				got = string(ejson.Append(nil, v))
			}
			if got != tt.want {
				t.Errorf("Field = %s, want %s", got, tt.want)
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
