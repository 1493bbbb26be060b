package index_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view/index"
	"vitrine/rules/filter"
	"vitrine/rules/filter/filtertest"
	"vitrine/rules/raw"
)

// TestAdopted: a table that adopts what another has derived has the same values and gives the same answers, also
// after further changes, deletions and folds.
func TestAdopted(t *testing.T) {
	for seed, n := range []int{50, index.SortAlone + 200} {
		gen, m := filtertest.New(uint64(seed)), &model{t, rand.New(rand.NewPCG(uint64(seed), 2)), nil}
		def := index.Definition{Name: "things", Order: orderOf(t, "year", true), Words: texts}
		var filters []*filter.Filter
		for len(filters) < 12 {
			if f, err := filter.FromBSON(gen.Filter(), filter.Options{}); err == nil {
				filters = append(filters, f)
			}
		}
		doc := func(id int) bson.D {
			d := numbered(t, gen.Doc(), id)
			d = slices.DeleteFunc(d, func(e bson.E) bool { return strings.Contains("title year v", e.Key) })
			return append(d, bson.E{Key: "title", Value: m.words()}, bson.E{Key: "year", Value: int32(id % 9)},
				bson.E{Key: "v", Value: m.value()})
		}
		var rows []bson.Raw
		for id := range n {
			rows = append(rows, mustRaw(doc(id)))
		}
		builders := []*index.Builder{newBuilder(def), newBuilder(def)}
		tables := []*index.Table{builders[0].Load(rows), builders[1].Load(rows)}
		for round := range 5 {
			want := answers(t, tables[0], filters)
			if got := answers(t, tables[1], filters); !slices.Equal(got, want) {
				t.Fatalf("round %d: answers differ before the restart", round)
			}
			restarted := newBuilder(def)
			table := restarted.Load(slices.Collect(tables[1].Docs()))
			if err := table.Adopt(slices.Collect(tables[1].Derived())); err != nil {
				t.Fatal(err)
			}
			if names := tables[1].DerivedNames(); len(names) < 10 || !slices.Equal(table.DerivedNames(), names) {
				t.Errorf("round %d: adopted %v, want %v", round, table.DerivedNames(), names)
			}
			for i, got := range answers(t, table, filters) {
				if got != want[i] {
					t.Errorf("round %d, %d segments: got %s, want %s", round, tables[1].Segments(), got, want[i])
				}
			}
			if round%2 == 1 {
				builders[1], tables[1] = restarted, table
			}
			var changed []bson.D
			for i := range 12 {
				changed = append(changed, doc(n/12*i+round))
			}
			next := changes(append(changed, doc(n+round)), int32(n/2+1), int32(round+20))
			for i, b := range builders {
				if tables[i] = b.Apply(next); round == 2 {
					tables[i] = b.Fold()
				}
			}
		}
	}
}

// TestAdoptRefuses: a table refuses what was not derived, and answers all the same.
func TestAdoptRefuses(t *testing.T) {
	for _, doc := range []bson.D{
		{{Key: "kind", Value: 0}, {Key: "path", Value: "n"}, {Key: "parts", Value: bson.A{}}},
		{{Key: "kind", Value: 99}, {Key: "path", Value: "n"}},
		{},
	} {
		table := load(t, []bson.D{{{Key: "_id", Value: "a"}, {Key: "n", Value: int32(1)}}}, nil)
		if err := table.Adopt([]bson.Raw{mustRaw(doc)}); err == nil {
			t.Errorf("%v is adopted", doc)
		}
		if got := ids(t, table, `{"n":1}`); !slices.Equal(got, []string{"a"}) {
			t.Errorf("%v: rows %v", doc, got)
		}
	}
}

func newBuilder(def index.Definition) *index.Builder {
	return index.NewBuilder(def, index.NewBudget(256<<20, 0))
}

// answers returns answers of every kind, as text.
func answers(t *testing.T, table *index.Table, filters []*filter.Filter) (all []string) {
	t.Helper()
	add := func(kind any, sel *index.Subset, err error) {
		text := fmt.Sprint(kind, ": ", err)
		if err == nil {
			for row, err := range sel.Rows(t.Context(), 0, 0) {
				text += fmt.Sprint(" ", row.Doc().Lookup("_id").Int32(), err)
			}
		}
		all = append(all, text)
	}
	for _, f := range filters {
		sel, err := table.Select(t.Context(), f)
		add(f.Key(), sel, err)
	}
	every, err := table.Select(t.Context(), filter.All())
	if err != nil {
		t.Fatal(err)
	}
	for _, order := range []raw.Sort{orderOf(t, "title", false),
		append(orderOf(t, "v", true), orderOf(t, "year", false)...)} {
		add(order, every.By(order), nil)
	}
	for _, term := range []string{"m", "moth", "muller", "h2", "日"} {
		sel, err := every.Search(t.Context(), []string{term})
		if err != nil {
			t.Fatal(err)
		}
		add(term, sel.ByRelevance(), nil)
	}
	for _, pattern := range []string{"MOTH", "m[uo]"} {
		f, err := filter.Parse([]byte(`{"title":{"$regex":"`+pattern+`","$options":"i"}}`), filter.Options{})
		if err != nil {
			t.Fatal(err)
		}
		sel, err := table.Select(t.Context(), f)
		add(pattern, sel, err)
	}
	for _, path := range []string{"v", "v.b", "title"} {
		facet, err := every.Facet(t.Context(), path)
		groups, failed := every.Group(t.Context(), path, "v")
		text := fmt.Sprint(path, ": ", err, failed)
		for _, g := range slices.Concat(facet, groups) {
			text += fmt.Sprintf(" %v %s×%d", g.Value.Type, spell(g.Value), g.Count)
		}
		all = append(all, text)
	}
	return all
}
