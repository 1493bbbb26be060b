package view_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/rules/filter"
	"vitrine/rules/fold"
)

// TestSearchWhereverRowsAre compares searches and facets of a view in memory with those of the same
// view in the store, with and without the store's words.
func TestSearchWhereverRowsAre(t *testing.T) {
	if testing.Short() {
		t.Skip("runs no goroutines in parallel")
	}
	p := newPublisher(t)
	dice := rand.New(rand.NewPCG(5, 5))
	one := func(of ...any) any { return of[dice.IntN(len(of))] }
	var docs []bson.Raw
	def := index.Definition{Name: "things", Order: orderOf(t, "year", true),
		Words: func(row bson.Raw, add func(string, bool)) {
			for _, field := range []string{"title", "venue"} {
				if text, ok := row.Lookup(field).StringValueOK(); ok {
					add(text, field == "title")
				}
			}
		}}
	for i := range 200 {
		doc := bson.D{
			{Key: "_id", Value: fmt.Sprintf("%03d", i)},
			{Key: "year", Value: one(int32(2020), int64(2020), 2021.0, "2020", nil)},
			{Key: "title", Value: one("Moths and lamps", "Of Müller's moth", "lamp", "<i>Moth</i>", int32(1))},
			{Key: "venue", Value: one("Moth Letters", "Letters", "Mueller Lectures", bson.A{})},
			{Key: "units", Value: bson.A{bson.D{{Key: "id", Value: one("A", "B", nil)}},
				bson.D{{Key: "id", Value: one("A", bson.A{"B", "C"})}}}},
		}
		// in the row, because the embedded store has no other place for words
		words := bson.D{{Key: "words", Value: def.WordsOf(mustRaw(doc))}}
		docs = append(docs, mustRaw(append(doc, bson.E{Key: "_view", Value: words})))
	}
	p.publish("things", len(docs), docs...)
	for _, json := range []string{`{}`, `{"year":{"$gte":2020}}`, `{"title":{"$regex":"m","$options":"i"}}`} {
		f, err := filter.Parse([]byte(json), filter.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range []string{"", "mo", "moth ", "muller moth", "lect moth", "nothing", "l m", "moth lamp"} {
			var answers []string
			for _, place := range []struct {
				mode  view.Mode
				rules string
			}{{view.Memory, ""}, {view.Store, "other"}, {view.Store, publishedRules}} {
				def.WordRules = place.rules
				snap, err := view.Load(t.Context(), view.Options{Store: p, Mode: place.mode}, def)
				if err != nil {
					t.Fatal(err)
				}
				selected, err := snap.Select(t.Context(), f)
				if err != nil {
					t.Fatal(err)
				}
				answers = append(answers, searched(t, selected, fold.Terms(q)))
			}
			for i := range answers {
				if answers[0] != answers[i] {
					t.Errorf("%s, %q:\nin memory %s\nin the store, %d %s", json, q, answers[0], i, answers[i])
				}
			}
		}
	}
}

// TestWordsOfTheStore: searches read the store's words if the publisher made them by the view's own
// rules, and from rows without hidden fields.
func TestWordsOfTheStore(t *testing.T) {
	p := newPublisher(t)
	p.publish("things", 1,
		mustRaw(bson.D{{Key: "_id", Value: "a"}, {Key: "title", Value: "here"},
			{Key: "_view", Value: bson.D{{Key: "words", Value: bson.A{"stored"}}}}}))
	def := index.Definition{Name: "things",
		Words: func(row bson.Raw, add func(string, bool)) { add(row.Lookup("title").StringValue(), true) }}
	found := func(snap *view.Snapshot, term string) int {
		t.Helper()
		selected, err := snap.Select(t.Context(), filter.All())
		if err == nil {
			selected, err = selected.Search(t.Context(), []string{term})
		}
		if err != nil {
			t.Fatal(err)
		}
		return selected.Count()
	}
	keep := func(doc bson.Raw) bson.Raw { return doc }
	for _, c := range []struct {
		name   string
		rules  string
		strip  func(bson.Raw) bson.Raw
		whole  bool
		stored bool
	}{
		{"its rules", publishedRules, nil, false, true},
		{"no rules", "", nil, false, false},
		{"other rules", "other", nil, false, false},
		{"stripped", publishedRules, keep, false, true},
		{"whole", publishedRules, keep, true, false},
	} {
		def.WordRules = c.rules
		snap, err := view.Load(t.Context(), view.Options{Store: p, Mode: view.Store, Strip: c.strip}, def)
		if err != nil {
			t.Fatal(err)
		}
		if c.whole {
			snap = snap.Whole()
		}
		if stored, here := found(snap, "stored") == 1, found(snap, "here") == 1; stored != c.stored ||
			here == c.stored {
			t.Errorf("%s: found by the store's word %t, by the row's %t", c.name, stored, here)
		}
	}
}

// searched formats the result of a search and facets of the rows found.
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
	f, err := filter.Parse([]byte(`{"$or":[{"year":2021},{"venue":{"$regex":"^moth","$options":"i"}}]}`),
		filter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	narrow, err := found.Narrow(t.Context(), f, view.Uncounted)
	if err != nil {
		t.Fatal(err)
	}
	narrowFirst, err := selected.Narrow(t.Context(), f, view.Uncounted)
	if err == nil {
		narrowFirst, err = narrowFirst.Search(t.Context(), terms)
	}
	if err != nil || narrowFirst.Count() != narrow.Count() {
		t.Errorf("%q: %d rows narrowed after the search, %d before, %v", terms, narrow.Count(), narrowFirst.Count(),
			err)
	}
	known, err := found.Narrow(t.Context(), f, narrow.Count())
	if err != nil {
		t.Fatal(err)
	}
	ranked := found.ByRelevance()
	for _, sel := range []view.Selection{found, again, again.ByRelevance(), narrow, narrow.ByRelevance(), known,
		known.ByRelevance(), narrowFirst.ByRelevance(), ranked.By(orderOf(t, "title", false)),
		selected.ByRelevance()} {
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
		values, err := found.Facets(t.Context(), index.FacetsAt(path), strings.Split(path, ".")[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range values[0] {
			if len(v.Sample) == 0 {
				t.Errorf("%s: %s has no sample", path, v.Value)
			}
			fmt.Fprintf(&text, "%s: %s×%d\n", path, v.Value, v.Count)
		}
	}
	return text.String()
}

// counting counts the questions that read all rows of a view in a store without indexes.
type counting struct {
	*publisher
	counts, groups atomic.Int64
}

func (c *counting) Count(ctx context.Context, at origin.Meta, f bson.Raw) (int, error) {
	c.counts.Add(1)
	return c.publisher.Count(ctx, at, f)
}

func (c *counting) Distinct(ctx context.Context, at origin.Meta, f bson.Raw, fields []string,
	fn func(bson.Raw, int) error) error {
	c.groups.Add(1)
	return c.publisher.Distinct(ctx, at, f, fields, fn)
}

// TestStoreIsAskedOnce: selections of one generation share counts and facets, such as the pages of a list.
func TestStoreIsAskedOnce(t *testing.T) {
	p := &counting{publisher: newPublisher(t)}
	docs := numberedDocs(t, 9, 1)
	p.publish("things", len(docs), docs...)
	snap, err := view.Load(t.Context(), view.Options{Store: p, Mode: view.Store}, index.Definition{Name: "things"})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(path string, f *filter.Filter) (text string) {
		t.Helper()
		selected, err := snap.Select(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		found, err := selected.Facets(t.Context(), index.FacetsAt(path), path)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(selected.Count(), found[0])
	}
	some := filter.Compared("_id", filter.Gte, "")
	first := ask("_id", some)
	if again := ask("_id", some); again != first || p.counts.Load() != 1 || p.groups.Load() != 1 {
		t.Errorf("%s, then %s: %d counts, %d groupings, want 1 of each", first, again, p.counts.Load(),
			p.groups.Load())
	}
	ask("n", some)
	ask("_id", filter.Compared("_id", filter.Gte, "a"))
	if p.counts.Load() != 2 || p.groups.Load() != 3 {
		t.Errorf("other questions: %d counts, %d groupings, want 2 and 3", p.counts.Load(), p.groups.Load())
	}
	selected, err := snap.Select(t.Context(), filter.Compared("_id", filter.Gte, "b"))
	if err != nil {
		t.Fatal(err)
	}
	both, err := selected.Facets(t.Context(), index.FacetsAt("_id", "n"), "_id", "n")
	if err != nil || p.groups.Load() != 4 {
		t.Errorf("two facets: %v, %d groupings, want one more", err, p.groups.Load()-3)
	}
	for i, path := range []string{"_id", "n"} {
		alone, err := selected.Facets(t.Context(), index.FacetsAt(path), path)
		if err != nil {
			t.Fatal(err)
		}
		sameGroup := func(a, b index.Group) bool { return a.Value.Equal(b.Value) && a.Count == b.Count }
		if !slices.EqualFunc(alone[0], both[i], sameGroup) {
			t.Errorf("%s: %v alone, %v with another facet", path, alone[0], both[i])
		}
	}
	counts, groups := p.counts.Load(), p.groups.Load()
	none, err := snap.Select(t.Context(), filter.OneOf("n", "none"))
	if err != nil {
		t.Fatal(err)
	}
	fewer, err := none.Narrow(t.Context(), some, view.Uncounted)
	if err != nil {
		t.Fatal(err)
	}
	_, err = fewer.Facets(t.Context(), index.FacetsAt("n"), "n")
	if err != nil || fewer.Count() != 0 || p.counts.Load() != counts+1 || p.groups.Load() != groups {
		t.Errorf("no rows: %v, %d counts, %d groupings, want one count more",
			err, p.counts.Load()-counts, p.groups.Load()-groups)
	}
}
