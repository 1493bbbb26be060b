package filter_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/ejson"
	"vitrine/rules/filter"
	"vitrine/rules/raw"
)

// sharedCases returns the folder of filter cases beside the repository, and skips the test if it is
// absent.
func sharedCases(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	cases := filepath.Join(filepath.Dir(dir), "shared", "data", "filter-cases")
	if _, err := os.Stat(cases); errors.Is(err, fs.ErrNotExist) {
		t.Skip("the shared filter cases are not beside this repository")
	}
	return cases
}

// lines decodes a file of JSON lines.
func lines[T any](t *testing.T, path string) []T {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var out []T
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		var v T
		if err := json.Unmarshal(scanner.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	if err := scanner.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// sharedDocs returns the documents of the shared cases by collection, in order.
func sharedDocs(t *testing.T, dir string) map[string][]bson.Raw {
	t.Helper()
	docs := map[string][]bson.Raw{}
	type line struct {
		Coll string
		Doc  json.RawMessage
	}
	for _, l := range lines[line](t, filepath.Join(dir, "docs.jsonl")) {
		docs[l.Coll] = append(docs[l.Coll], doc(t, string(l.Doc)))
	}
	return docs
}

func doc(t testing.TB, s string) bson.Raw {
	t.Helper()
	d, err := ejson.Parse([]byte(s), ejson.Options{})
	if err != nil {
		t.Fatalf("document %s: %v", s, err)
	}
	return d
}

// ids returns the _ids of documents, and of a JSON list, in a comparable form.
func ids(docs []bson.Raw) []string {
	out := []string{}
	for _, d := range docs {
		out = append(out, string(ejson.Append(nil, d.Lookup("_id"))))
	}
	return out
}

func wantIDs(t *testing.T, list []json.RawMessage) []string {
	out := []string{}
	for _, raw := range list {
		v, err := parseValue(raw, ejson.Options{})
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(ejson.Append(nil, v)))
	}
	return out
}

func TestSharedCases(t *testing.T) {
	dir := sharedCases(t)
	docs := sharedDocs(t, dir)
	type line struct {
		ID, Coll string
		Filter   json.RawMessage
		IDs      []json.RawMessage
		Error    json.RawMessage
	}
	for _, c := range lines[line](t, filepath.Join(dir, "cases.jsonl")) {
		t.Run(c.ID, func(t *testing.T) {
			f, err := filter.Parse(c.Filter, filter.Options{})
			if c.Error != nil {
				if !errors.Is(err, rules.ErrWrongCall) {
					t.Fatalf("Parse(%s) error = %v, want a wrong call", c.Filter, err)
				}
				return
			}
			if err != nil {
				t.Fatalf("Parse(%s): %v", c.Filter, err)
			}
			got, want := ids(matching(t, f, docs[c.Coll])), wantIDs(t, c.IDs)
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("Match(%s)\n got %v\nwant %v", c.Filter, got, want)
			}
		})
	}
}

func matching(t *testing.T, f *filter.Filter, docs []bson.Raw) []bson.Raw {
	t.Helper()
	var out []bson.Raw
	for _, d := range docs {
		ok, err := f.Match(d)
		if err != nil {
			t.Fatalf("Match: %v", err)
		}
		if ok {
			out = append(out, d)
		}
	}
	return out
}

func TestSharedSorts(t *testing.T) {
	dir := sharedCases(t)
	docs := sharedDocs(t, dir)
	type line struct {
		ID, Coll     string
		Filter, Sort json.RawMessage
		IDs          []json.RawMessage
	}
	for _, c := range lines[line](t, filepath.Join(dir, "sort.jsonl")) {
		t.Run(c.ID, func(t *testing.T) {
			f, err := filter.Parse(c.Filter, filter.Options{})
			if err != nil {
				t.Fatal(err)
			}
			got := matching(t, f, docs[c.Coll])
			sortOf(t, string(c.Sort)).Documents(got)
			if got, want := ids(got), wantIDs(t, c.IDs); !slices.Equal(got, want) {
				t.Errorf("sort %s\n got %v\nwant %v", c.Sort, got, want)
			}
		})
	}
}

// sortOf parses a sort such as {"year":-1, "_id": 1}.
func sortOf(t *testing.T, s string) raw.Sort {
	t.Helper()
	elements, err := doc(t, s).Elements()
	if err != nil {
		t.Fatal(err)
	}
	var out raw.Sort
	for _, e := range elements {
		path, err := raw.ParsePath(e.Key())
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, raw.SortField{Path: path, Desc: e.Value().AsInt64() < 0})
	}
	return out
}

// parseValue reads a text that is one JSON value of any kind.
func parseValue(src []byte, o ejson.Options) (bson.RawValue, error) {
	doc, err := ejson.Parse(slices.Concat([]byte(`{"v":`), src, []byte(`}`)), o)
	return doc.Lookup("v"), err
}
