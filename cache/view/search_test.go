package view_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/rules/filter"
	"vitrine/rules/fold"
)

// TestSearchWhereverRowsAre asks a view in memory and the same in the store for words and
// facets.
func TestSearchWhereverRowsAre(t *testing.T) {
	if testing.Short() {
		t.Skip("asks one thing after the other")
	}
	p := newPublisher(t)
	dice := rand.New(rand.NewPCG(5, 5))
	one := func(of ...any) any { return of[dice.IntN(len(of))] }
	var docs []bson.Raw
	for i := range 200 {
		docs = append(docs, mustRaw(bson.D{
			{Key: "_id", Value: fmt.Sprintf("%03d", i)}, {Key: "year", Value: one(int32(2020), int64(2020), 2021.0, "2020", nil)},
			{Key: "title", Value: one("Moths and lamps", "Of Müller's moth", "lamp", "<i>Moth</i>", int32(1))},
			{Key: "venue", Value: one("Moth Letters", "Letters", "Mueller Lectures", bson.A{})},
			{Key: "units", Value: bson.A{bson.D{{Key: "id", Value: one("A", "B", nil)}}, bson.D{{Key: "id", Value: one("A", bson.A{"B", "C"})}}}},
		}))
	}
	p.publish("things", len(docs), docs...)
	def := index.Definition{Name: "things", Order: orderOf(t, "year", true), Words: func(row bson.Raw, add func(string, bool)) {
		for _, field := range []string{"title", "venue"} {
			if text, ok := row.Lookup(field).StringValueOK(); ok {
				add(text, field == "title")
			}
		}
	}}
	for _, json := range []string{`{}`, `{"year":{"$gte":2020}}`, `{"title":{"$regex":"m","$options":"i"}}`} {
		f, err := filter.Parse([]byte(json), filter.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range []string{"", "mo", "moth ", "muller moth", "lect moth", "nothing", "l m", "moth lamp"} {
			var answers []string
			for _, mode := range []view.Mode{view.Memory, view.Store} {
				snap, err := view.Load(t.Context(), view.Options{Store: p, Mode: mode}, def)
				if err != nil {
					t.Fatal(err)
				}
				selected, err := snap.Select(t.Context(), f)
				if err != nil {
					t.Fatal(err)
				}
				answers = append(answers, searched(t, selected, fold.Terms(q)))
			}
			if answers[0] != answers[1] {
				t.Errorf("%s, %q:\nin memory %s\nin the store %s", json, q, answers[0], answers[1])
			}
		}
	}
}

// searched writes what a search and facets of what it finds say.
func searched(t *testing.T, selected view.Selection, terms []string) string {
	t.Helper()
	var text strings.Builder
	found, err := selected.Search(t.Context(), terms)
	if err != nil {
		t.Fatal(err)
	}
	again, err := found.Search(t.Context(), []string{"m"})
	if err != nil {
		t.Fatal(err)
	}
	f, err := filter.Parse([]byte(`{"$or":[{"year":2021},{"venue":{"$regex":"^moth","$options":"i"}}]}`), filter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	narrow, err := found.Narrow(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	narrowFirst, err := selected.Narrow(t.Context(), f)
	if err == nil {
		narrowFirst, err = narrowFirst.Search(t.Context(), terms)
	}
	if err != nil || narrowFirst.Count() != narrow.Count() {
		t.Errorf("%q: %d rows narrowed after the search, %d before, %v", terms, narrow.Count(), narrowFirst.Count(), err)
	}
	ranked := found.ByRelevance()
	for _, sel := range []view.Selection{found, again, again.ByRelevance(), narrow, narrow.ByRelevance(), narrowFirst.ByRelevance(), ranked.By(orderOf(t, "title", false)), selected.ByRelevance()} {
		rows, err := listed(sel, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&text, "%d rows: %q\n", sel.Count(), rows)
	}
	var pages, all []string
	for offset := 0; offset < ranked.Count(); offset += 7 {
		page, err := listed(ranked, offset, 7)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, page...)
	}
	if all, err = listed(ranked.Only("title"), 0, 0); err != nil || len(all) != ranked.Count() {
		t.Errorf("%q: %d rows, counted %d, %v", terms, len(all), ranked.Count(), err)
	}
	if all, err = listed(ranked, 0, 0); err != nil || !slices.Equal(pages, all) {
		t.Errorf("%q: in pages %q, at once %q, %v", terms, pages, all, err)
	}
	fmt.Fprintf(&text, "by relevance: %q\n", all)
	for _, path := range []string{"year", "units.id", "title", "none"} {
		values, err := found.Facet(t.Context(), path, strings.Split(path, ".")[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range values {
			if len(v.Sample) == 0 {
				t.Errorf("%s: %s has no sample", path, v.Value)
			}
			fmt.Fprintf(&text, "%s: %s×%d\n", path, v.Value, v.Count)
		}
	}
	return text.String()
}
