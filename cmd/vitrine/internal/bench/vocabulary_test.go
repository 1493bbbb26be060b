package bench

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

// TestCollect checks which words of a record become part of questions.
func TestCollect(t *testing.T) {
	tests := []struct {
		name, collection, record, list, want string
	}{
		{"type", "activities", `{"type":"lecture"}`, "types", "lecture"},
		{"a type that is no text", "activities", `{"type":7}`, "types", ""},
		{"day", "activities", `{"start_date":"2020-02-03"}`, "days", "2020-02-03"},
		{"a month", "activities", `{"start_date":"2020-02"}`, "days", ""},
		{"units", "activities", `{"units":["B","A","B",null,7]}`, "units", "A,B"},
		{"units that are no array", "activities", `{"units":"A"}`, "units", ""},
		{"users", "activities", `{"authors":[{"user":"u"},{"user":null},"x"]}`, "users", "u"},
		{"positions", "activities", `{"authors":[{"position":"last"},{"position":"first"}]}`, "positions", "first,last"},
		{"topics", "activities", `{"spectrum":[{"display_name":"Light"}]}`, "spectra", "Light"},
		{"title", "activities", `{"title":"Dark skies"}`, "titles", "Dark skies"},
		{"a title with markup", "activities", `{"title":"<b>Dark</b> skies"}`, "titles", ""},
		{"beginnings", "activities", `{"title":"Dark skies"}`, "prefixes", "Dark s,Dark skie"},
		{"two words", "activities", `{"title":"Bright Nights ahead"}`, "infixes", "bright nigh,bright night,bright nights,nights ahe,nights ahea,nights ahead"},
		{"short words", "activities", `{"title":"Dark and bright"}`, "infixes", ""},
		{"words with signs", "activities", `{"title":"Bright (nights)"}`, "infixes", ""},
		{"expressions", "activities", `{"title":"Bright Nights"}`, "patterns", "brig[a-z]* nig,brig[a-z]* nigh"},
		{"persons", "persons", `{"_id":1,"username":"u"}`, "persons", "u"},
		{"ids", "persons", `{"_id":{"$oid":"6222925f11fe5694aadce6b7"}}`, "ids", "6222925f11fe5694aadce6b7"},
		{"an id that is a number", "persons", `{"_id":1}`, "ids", ""},
		{"numbers of funding", "projects", `{"funding_number":"DFG 1"}`, "numbers", "DFG 1"},
		{"two numbers in one", "projects", `{"funding_number":"DFG 1, DFG 2"}`, "numbers", ""},
	}
	for _, tt := range tests {
		v, err := collect(t.Context(), records{by: map[string][]string{tt.collection: {tt.record}}}, 0)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := strings.Join(v.words[tt.list], ","); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestCollectSamples checks that of many activities some are read, and all are counted.
func TestCollectSamples(t *testing.T) {
	store := records{by: map[string][]string{"activities": slices.Repeat([]string{`{"type":"a"}`, `{"type":"b"}`}, 3)}}
	v, err := collect(t.Context(), store, 2*sampled)
	if err != nil || v.rows != 6 || v.bytes <= 0 || strings.Join(v.words["types"], ",") != "a" {
		t.Errorf("%d rows, %d bytes, types %q, %v", v.rows, v.bytes, v.words["types"], err)
	}
	store.err = errors.New("gone")
	if _, err := collect(t.Context(), store, 0); !errors.Is(err, store.err) {
		t.Errorf("a store that fails: %v", err)
	}
}
