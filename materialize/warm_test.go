package materialize

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
)

// findStore answers Find alone.
type findStore struct {
	Store
	docs map[string][]any
}

func (s findStore) Find(_ context.Context, collection string, _ origin.Query) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		for _, d := range s.docs[collection] {
			err, broken := d.(error)
			if broken {
				yield(nil, err)
				return
			}
			raw, _ := bson.Marshal(d) // cannot fail for these documents
			if !yield(raw, nil) {
				return
			}
		}
	}
}

// TestWarm: a placeholder stands for each value that can be a part of a path, once.
func TestWarm(t *testing.T) {
	id, _ := bson.ObjectIDFromHex("0123456789abcdef01234567")
	store := findStore{docs: map[string][]any{
		"groups": {
			bson.M{"id": "BIO"}, bson.M{"id": "a b/c"}, bson.M{"id": "a b"}, bson.M{"id": "ä"}, bson.M{"id": "BIO"},
			bson.M{"id": ".."}, bson.M{}, bson.M{"id": 7}, bson.M{"id": 7.5}, bson.M{"id": 8.0},
			bson.M{"id": bson.M{"x": 1}}, bson.M{"id": ""}, bson.M{"id": nil}, bson.M{"id": "x;y"},
		},
		"persons":     {bson.M{"_id": id, "units": bson.A{bson.M{"unit": "X"}, bson.M{"unit": "Y"}}}},
		"conferences": {bson.M{"_id": "c1"}},
		"broken":      {bson.M{"id": "x"}, errors.New("connection refused")},
	}}
	for _, tt := range []struct{ template, want string }{
		{"/portfolio/units", "/portfolio/units"},
		{"/portfolio/units?limit=10", "/portfolio/units?limit=10"},
		{
			"/unit/{groups.id}/x?limit=5",
			"/unit/7/x?limit=5 /unit/8/x?limit=5 /unit/BIO/x?limit=5 /unit/a%20b/x?limit=5 " +
				"/unit/%C3%A4/x?limit=5",
		},
		{"/person/{persons._id}", "/person/0123456789abcdef01234567"},
		{"/unit/{persons.units.unit}", "/unit/X /unit/Y"},
		{"/event/{events._id}", "/event/c1"}, // a view, whose collection has another name
		{"/x/{missing.id}", ""},
		{"/x/{broken.id}", "error: read id of broken: connection refused"},
	} {
		w, err := ParseWarm(tt.template)
		if err != nil {
			t.Errorf("%s: %v", tt.template, err)
			continue
		}
		paths, err := w.expand(t.Context(), store)
		got := strings.Join(paths, " ")
		if err != nil {
			got = "error: " + err.Error()
		}
		want := strings.Fields(tt.want)
		slices.Sort(want)
		if got != strings.Join(want, " ") && got != tt.want {
			t.Errorf("%s: %s, want %s", tt.template, got, tt.want)
		}
	}
}

func TestWarmIsBounded(t *testing.T) {
	var docs []any
	for i := range mostWarm + 1 {
		docs = append(docs, bson.M{"id": i})
	}
	w, _ := ParseWarm("/x/{groups.id}") // as in TestWarm
	if _, err := w.expand(t.Context(), findStore{docs: map[string][]any{"groups": docs}}); !errors.Is(err,
		errTooMany) {
		t.Error(err)
	}
}

func TestParseWarm(t *testing.T) {
	for text, want := range map[string]string{
		"portfolio/units":        "want a path from the root",
		"":                       "want a path from the root",
		"/unit/{groups}":         "want placeholders such as {groups.id}",
		"/unit/{}":               "want placeholders such as {groups.id}",
		"/unit/{groups.id":       "want placeholders such as {groups.id}",
		"/unit/{groups.id}}":     "want placeholders such as {groups.id}",
		"/{a.b}/{c.d}":           "want one placeholder at most",
		"/x?id={groups.id}":      "want no placeholder among the parameters",
		"/x#{groups.id}":         "want no placeholder among the parameters",
		"/x#y":                   "want a path from the root",
		"/unit/{groups.$id}":     "want placeholders such as {groups.id}",
		"/x y\n/{groups.id}":     "want a path from the root",
		"http://x/{groups.id}":   "want a path from the root",
		"/unit/{groups..id}":     "want placeholders such as {groups.id}",
		"/unit/{system.x.y}/%zz": "want a path from the root",
	} {
		if _, err := ParseWarm(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
