package bench

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
)

// records is a store of Extended JSON, by collection.
type records struct {
	origin.Source
	by  map[string][]string
	err error // ends every scan
}

func (r records) Scan(_ context.Context, collection string) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		for _, text := range r.by[collection] {
			var doc bson.Raw
			err := bson.UnmarshalExtJSON([]byte(text), false, &doc)
			if !yield(doc, err) || err != nil {
				return
			}
		}
		if r.err != nil {
			yield(nil, r.err)
		}
	}
}

// TestCollect checks which words of a record become part of queries.
func TestCollect(t *testing.T) {
	tests := []struct {
		name, collection, record, path, want string
	}{
		{"type", "activities", `{"type":"lecture"}`, "type", "lecture"},
		{"a type that is not text", "activities", `{"type":7}`, "type", ""},
		{"day", "activities", `{"start_date":"2020-02-03"}`, "start_date", "2020-02-03"},
		{"units", "activities", `{"units":["B","A","B",null,7,""]}`, "units", "A,B"},
		{"units that are not an array", "activities", `{"units":{"A":1}}`, "units", ""},
		{"users", "activities", `{"authors":[{"user":"u"},{"user":null},"x"]}`, "authors.user", "u"},
		{"positions", "activities", `{"authors":[{"position":"last"},{"position":"first"}]}`, "authors.position",
			"first,last"},
		{"topics", "activities", `{"spectrum":[{"display_name":"Light"}]}`, "spectrum.display_name", "Light"},
		{"title", "activities", `{"title":"<b>Dark</b> \u0001skies"}`, "title", "<b>Dark</b> \x01skies"},
		{"persons", "persons", `{"_id":1,"username":"u"}`, "username", "u"},
		{"ids", "persons", `{"_id":{"$oid":"6222925f11fe5694aadce6b7"}}`, "_id", "6222925f11fe5694aadce6b7"},
		{"an id that is a number", "persons", `{"_id":1}`, "_id", ""},
		{"numbers of funding", "projects", `{"funding_number":["DFG 1"]}`, "funding_number", "DFG 1"},
	}
	for _, tt := range tests {
		v, err := collect(t.Context(), records{by: map[string][]string{tt.collection: {tt.record}}}, 0, 5)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := strings.Join(v.words[tt.path], ","); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestCollectSamples: of many activities collect reads some, and counts all.
func TestCollectSamples(t *testing.T) {
	store := records{
		by: map[string][]string{"activities": slices.Repeat([]string{`{"type":"a"}`, `{"type":"b"}`}, 3)}}
	v, err := collect(t.Context(), store, 2*sampled, 5)
	if err != nil || v.rows != 6 || strings.Join(v.words["type"], ",") != "b" {
		t.Errorf("%d rows, types %q, %v", v.rows, v.words["type"], err)
	}
	if v, err = collect(t.Context(), store, 6, 3); err != nil || len(v.records) != 3 ||
		v.records[0].Lookup("type").StringValue() != "b" {
		t.Errorf("%d records to change, %v", len(v.records), err)
	}
	store.err = errors.New("gone")
	if _, err := collect(t.Context(), store, 0, 5); !errors.Is(err, store.err) {
		t.Errorf("a store that fails: %v", err)
	}
}

// TestOfTitle checks the words made of titles, including hostile ones.
func TestOfTitle(t *testing.T) {
	tests := []struct {
		name, title string
		want        []string // all words that may come
	}{
		{"prefix", "Dark skies", []string{"Dark s", "Dark skie", "Dark skies"}},
		{"prefix", "Öl", []string{"Öl"}},
		{"prefix", "", []string{""}},
		{"anchored", "(a|b)*", []string{`^\(a\|b\)\*`}},
		{"anchored", "", []string{""}},
		{"infix", "Bright Nights ahead", []string{"bright nights", "bright night", "bright nigh"}},
		{"infix", "Dark and bright", []string{""}},
		{"infix", "Bright (nights)", []string{""}},
		{"infix", "<script>\x00\xff", []string{""}},
		{"pattern", "Bright Nights", []string{"brig[a-z]* nigh", "brig[a-z]* nig"}},
		{"double", "Bright", []string{""}},
	}
	for _, tt := range tests {
		for seed := range uint64(50) {
			if got := ofTitle(tt.name, tt.title, rand.New(rand.NewPCG(seed, 0))); !slices.Contains(tt.want, got) {
				t.Errorf("%s of %q: got %q, want one of %q", tt.name, tt.title, got, tt.want)
			}
		}
	}
	if got := ofTitle("misquote", " \t", rand.New(rand.NewPCG(0, 0))); got != "" {
		t.Errorf("misquote of a title without words: %q", got)
	}
}
