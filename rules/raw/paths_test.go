package raw_test

import (
	"fmt"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// TestPaths: several paths walked together yield what each of them yields.
func TestPaths(t *testing.T) {
	names := []string{"a", "a.b", "a.b.c", "a.0", "a.0.b", "b", "b.a", "", "a.", "missing", "x\x01"}
	for i := range 30 { // more than are found without allocating
		names = append(names, fmt.Sprintf("f%d.a", i))
	}
	var paths []raw.Path
	for _, name := range names {
		path, err := raw.ParsePath(name)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	docs := []bson.Raw{
		doc(t, `{}`), doc(t, `{"a": 1, "b": {"a": [1, 2]}}`), doc(t, `{"a": {"b": {"c": 1}}, "": 2, "f29": {"a": null}}`),
		doc(t, `{"a": [{"b": 1}, 5, [{"b": 9}]], "b": [], "f3": [{"a": 1}, {}]}`), doc(t, `{"x\u0001": "<script>", "a": null}`),
	}
	twice, _ := bson.Marshal(bson.D{{Key: "a", Value: 1}, {Key: "b", Value: 2}, {Key: "a", Value: bson.D{{Key: "b", Value: 3}}}})
	docs = append(docs, twice, twice[:len(twice)-9], nil) // cut off: what comes before counts
	for _, d := range docs {
		got, want := make([][]string, len(paths)), make([][]string, len(paths))
		text := func(v raw.Value) string { return fmt.Sprint(v.Missing, v.Elem, v.Raw.Type, v.Raw.Value) }
		raw.NewPaths(paths).Walk(d, func(path int, v raw.Value) { got[path] = append(got[path], text(v)) })
		for i, path := range paths {
			raw.Walk(d, path, func(v raw.Value) bool { want[i] = append(want[i], text(v)); return true })
			if !slices.Equal(got[i], want[i]) {
				t.Errorf("%s in %x: together %q, alone %q", path, []byte(d), got[i], want[i])
			}
		}
	}
}
