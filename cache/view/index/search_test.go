package index_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view/index"
	"vitrine/rules/filter"
	"vitrine/rules/fold"
	"vitrine/rules/raw"
)

// texts adds the title of a row and its other texts.
func texts(row bson.Raw, add func(text string, title bool)) {
	elements, _ := row.Elements()
	for _, e := range elements {
		if text, ok := e.Value().StringValueOK(); ok && e.Key() != "_id" {
			add(text, e.Key() == "title")
		}
	}
}

// model holds the rows that a view should have.
type model struct {
	t    *testing.T
	dice *rand.Rand
	rows map[int]bson.Raw
}

func (m *model) one(of ...any) any { return of[m.dice.IntN(len(of))] }

// words returns a text of some words, many of them alike.
func (m *model) words() string {
	var text []string
	for range m.dice.IntN(5) {
		text = append(text, m.one("Müller", "Mueller", "mull", "Moth", "moths", "mo-th", "日本語", "H<sub>2</sub>O",
			"h2", "O'Brien", "", "a\x00b\xff").(string))
	}
	return strings.Join(text, " ")
}

// value returns a value as facets may meet it.
func (m *model) value() any {
	one := func() any {
		return m.one(int32(1), int64(1), 1.0, "1", int32(2), 2.5, nil, "x", "<script>", bson.A{}, bson.A{int32(1)},
			bson.D{{Key: "b", Value: int32(1)}}, true)
	}
	if m.dice.IntN(3) > 0 {
		return one()
	}
	array := bson.A{}
	for range m.dice.IntN(4) {
		array = append(array, one())
	}
	return array
}

// change makes new versions of some rows and removes others.
func (m *model) change(ids, changes, gone int) []index.Change {
	var docs []bson.D
	var away []any
	for range changes {
		id := m.dice.IntN(ids)
		doc := bson.D{{Key: "_id", Value: int32(id)},
			{Key: "title", Value: m.one(m.words(), m.words(), m.words(), int32(3), nil)}}
		for _, field := range []string{"venue", "year"} {
			doc = append(doc, bson.E{Key: field, Value: m.one(m.words(), int32(id%7))})
		}
		if m.dice.IntN(5) > 0 {
			doc = append(doc, bson.E{Key: "v", Value: m.value()})
		}
		doc = append(doc, bson.E{Key: "d",
			Value: bson.A{bson.D{{Key: "b", Value: m.value()}}, bson.D{{Key: "b", Value: m.value()}}, m.value()}})
		docs = append(docs, doc)
		m.rows[id] = mustRaw(doc)
	}
	for range gone {
		id := m.dice.IntN(ids)
		away = append(away, int32(id))
		delete(m.rows, id)
	}
	return newest(docs, away)
}

func newest(docs []bson.D, away []any) []index.Change {
	last := map[string]index.Change{}
	for _, c := range changes(docs, away...) {
		last[raw.Key(c.ID)] = c
	}
	var all []index.Change
	for _, c := range last {
		all = append(all, c)
	}
	return all
}

// TestSearchAndFacetAgreeWithRows: indexes give the same answers as reading each row, through
// loads, refreshes, folds and deletions.
func TestSearchAndFacetAgreeWithRows(t *testing.T) {
	for seed, size := range []struct{ ids, rounds int }{{40, 14}, {2500, 2}, {30, 14}} {
		// the large one is indexed by several goroutines
		if seed == 2 && testing.Short() {
			break
		}
		m := &model{t, rand.New(rand.NewPCG(uint64(seed), 1)), map[int]bson.Raw{}}
		def := index.Definition{Name: "things", Order: orderOf(t, "year", true), Words: texts}
		b := index.NewBuilder(def, index.NewBudget(256<<20, 0))
		ids := size.ids
		m.change(ids, 2*ids, 0)
		var before *index.Table
		var rows []bson.Raw
		for _, row := range m.rows {
			rows = append(rows, row)
		}
		snap := b.Load(rows)
		for round := range size.rounds {
			b.Warm(context.Background(), before, snap)
			m.check(snap, def)
			if before = snap; round == 9 {
				snap = b.Fold()
			} else {
				snap = b.Apply(m.change(ids, ids/10, ids/30))
			}
		}
	}
}

// check compares some answers of a snapshot with the rows.
func (m *model) check(snap *index.Table, def index.Definition) {
	m.t.Helper()
	ctx := context.Background()
	if snap.Len() != len(m.rows) {
		m.t.Fatalf("%d rows, want %d", snap.Len(), len(m.rows))
	}
	for _, json := range []string{`{}`, `{"year": {"$gt": 2}}`} {
		f, err := filter.Parse([]byte(json), filter.Options{})
		if err != nil {
			m.t.Fatal(err)
		}
		sel, err := snap.Select(ctx, f)
		if err != nil {
			m.t.Fatal(err)
		}
		for _, q := range []string{"muller", "Müll", "mo", "moth mull", "moth muller ", "日本 h2", "o'b", "nowhere",
			"m m m ", "", "b"} {
			m.checkSearch(sel, def, fold.Terms(q))
		}
		found, err := sel.Search(ctx, []string{"m"})
		if err != nil {
			m.t.Fatal(err)
		}
		for _, path := range []string{"v", "v.b", "d.b", "d.2", "title", "nowhere", "_id"} {
			m.checkFacet(sel, path)
			m.checkFacet(found, path)
		}
	}
}

// relevance reports whether a row's words include all terms, and how many terms are in the title.
func relevance(row bson.Raw, terms []string) (ok bool, titles int) {
	for i, term := range terms {
		anywhere, inTitle := false, false
		texts(row, func(text string, title bool) {
			hit := false
			(&fold.Folder{}).Each(text, func(word []byte) {
				hit = hit || string(word) == term || i == len(terms)-1 && strings.HasPrefix(string(word), term)
			})
			anywhere, inTitle = anywhere || hit, inTitle || hit && title
		})
		switch {
		case term == "":
		case !anywhere:
			return false, 0
		case inTitle:
			titles++
		}
	}
	return true, titles
}

func (m *model) checkSearch(sel *index.Subset, def index.Definition, terms []string) {
	m.t.Helper()
	found, err := sel.Search(context.Background(), terms)
	if err != nil {
		m.t.Fatal(err)
	}
	var want, ranked []string
	titles := map[string]int{}
	for row := range sel.Rows(context.Background(), 0, 0) {
		id := row.Doc().Lookup("_id").String()
		ok, n := relevance(row.Doc(), terms)
		if titles[id] = n; ok {
			want = append(want, id)
		}
		if got, is := def.Match(row.Doc(), terms); is != ok || got != n {
			m.t.Errorf("%q in %s: Match = %d, %v, want %d, %v", terms, row.Doc(), got, is, n, ok)
		}
	}
	list := func(s *index.Subset) (all []string) {
		for row := range s.Rows(context.Background(), 0, 0) {
			all = append(all, row.Doc().Lookup("_id").String())
		}
		return all
	}
	if got := list(found); !slices.Equal(got, want) || found.Count() != len(want) {
		m.t.Errorf("%q: %d rows, counted %d, want %d", terms, len(got), found.Count(), len(want))
	}
	ranked = slices.Clone(want)
	slices.SortStableFunc(ranked, func(a, b string) int { return cmp.Compare(titles[b], titles[a]) })
	if got := list(found.ByRelevance()); !slices.Equal(got, ranked) {
		m.t.Errorf("%q: by relevance %v, want %v", terms, got, ranked)
	}
	other := sel.By(orderOf(m.t, "title", false))
	both, err := other.Search(context.Background(), terms)
	if err != nil {
		m.t.Fatal(err)
	}
	if got, want := list(both), list(found.By(orderOf(m.t, "title", false))); !slices.Equal(got, want) {
		m.t.Errorf("%q: ordered and searched %v, want %v", terms, got, want)
	}
}

func (m *model) checkFacet(sel *index.Subset, path string) {
	m.t.Helper()
	parsed, err := raw.ParsePath(path)
	if err != nil {
		m.t.Fatal(err)
	}
	name := func(v bson.RawValue) string {
		if n, ok := v.AsFloat64OK(); ok && raw.IsNumber(v.Type) {
			return fmt.Sprint(n)
		}
		return v.Type.String() + v.String()
	}
	valuesOf := func(row bson.Raw) map[string]bool {
		values := map[string]bool{}
		raw.Walk(row, parsed, func(v raw.Value) bool {
			if !v.Missing && v.Raw.Type != bson.TypeArray && v.Raw.Type != bson.TypeNull {
				values[name(v.Raw)] = true
			}
			return true
		})
		return values
	}
	want := map[string]int{}
	for row := range sel.Rows(context.Background(), 0, 0) {
		for value := range valuesOf(row.Doc()) {
			want[value]++
		}
	}
	check := func(got []index.Group, err error) {
		m.t.Helper()
		if err != nil {
			m.t.Fatal(err)
		}
		counts := map[string]int{}
		for i, v := range got {
			counts[name(v.Value)] = v.Count
			if !valuesOf(v.Sample)[name(v.Value)] {
				m.t.Errorf("%s: %s is not in its sample %s", path, v.Value, v.Sample)
			}
			if i > 0 && raw.Compare(got[i-1].Value, v.Value) >= 0 {
				m.t.Errorf("%s: %s comes before %s", path, got[i-1].Value, v.Value)
			}
		}
		if !maps.Equal(counts, want) {
			m.t.Errorf("%s: %v, want %v", path, counts, want)
		}
	}
	check(sel.Facet(context.Background(), path))
	docs := func(add func(bson.Raw, int)) error {
		for row := range sel.Rows(context.Background(), 0, 0) {
			add(row.Doc(), 1)
		}
		return nil
	}
	all, err := index.FacetsDocs(context.Background(), docs, index.FacetsAt("none", path))
	check(all[1], err)
}

// TestSearchRefused: a search of a view that declares no words fails, and a search stops when no
// caller waits for it.
func TestSearchRefused(t *testing.T) {
	docs := []bson.D{{{Key: "_id", Value: "a"}, {Key: "title", Value: "moth"}}}
	sel, err := load(t, docs, nil).Select(context.Background(), filter.All())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sel.Search(context.Background(), []string{"moth"}); err == nil {
		t.Error("a search of a view without words succeeded")
	}
	if _, err := sel.Facet(context.Background(), "$"); err == nil {
		t.Error("a facet of $ succeeded")
	}
	gone := errors.New("gone")
	ctx, leave := context.WithCancelCause(context.Background())
	leave(gone)
	if _, err := sel.Facet(ctx, "title"); !errors.Is(err, gone) {
		t.Errorf("Facet = %v after the client left", err)
	}
	b := index.NewBuilder(index.Definition{Name: "things", Words: texts}, index.NewBudget(1<<20, 0))
	if sel, err = b.Load([]bson.Raw{mustRaw(docs[0])}).Select(context.Background(), filter.All()); err != nil {
		t.Fatal(err)
	}
	if _, err := sel.Search(ctx, []string{"moth"}); !errors.Is(err, gone) {
		t.Errorf("Search = %v after the client left", err)
	}
}
