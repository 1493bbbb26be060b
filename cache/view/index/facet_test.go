package index_test

import (
	"context"
	"fmt"
	"maps"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view/index"
	"vitrine/rules/filter"
)

// TestFacetOfFewValues counts values that many rows have, in many rows and in few, in one segment
// and in several. The sample is the first row with the value.
func TestFacetOfFewValues(t *testing.T) {
	const rows = 6000
	kinds := map[int]string{}
	doc := func(id int, kind string) bson.D {
		kinds[id] = kind
		return bson.D{{Key: "_id", Value: int32(id)}, {Key: "kind", Value: kind}}
	}
	var docs []bson.Raw
	for id := range rows {
		docs = append(docs, mustRaw(doc(id, fmt.Sprint("kind ", id%3))))
	}
	b := index.NewBuilder(index.Definition{Name: "things"}, index.NewBudget(64<<20, 0))
	check := func(snap *index.Table) {
		t.Helper()
		for _, json := range []string{`{}`, `{"_id":{"$lt":5500}}`, `{"_id":{"$gte":5990}}`, `{"kind":"kind 1"}`,
			`{"kind":"none"}`} {
			f, err := filter.Parse([]byte(json), filter.Options{})
			if err != nil {
				t.Fatal(err)
			}
			selected, err := snap.Select(context.Background(), f)
			if err != nil {
				t.Fatal(err)
			}
			want, first := map[string]int{}, map[string]string{}
			for row := range selected.Rows(context.Background(), 0, 0) {
				kind := kinds[int(row.Doc().Lookup("_id").Int32())]
				if want[kind]++; want[kind] == 1 {
					first[kind] = row.Doc().String()
				}
			}
			groups, err := selected.Facet(context.Background(), "kind")
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]int{}
			for _, g := range groups {
				kind := g.Value.StringValue()
				if got[kind] = g.Count; snap.Segments() == 1 && g.Sample.String() != first[kind] {
					t.Errorf("%s: the sample of %s is %s, want %s", json, kind, g.Sample, first[kind])
				}
			}
			if !maps.Equal(got, want) {
				t.Errorf("%s of %d segments: %v, want %v", json, snap.Segments(), got, want)
			}
		}
	}
	check(b.Load(docs))
	for range 3 {
		var changed []bson.D
		for id := rows - 200; id < rows; id += 7 {
			changed = append(changed, doc(id, fmt.Sprint("kind ", id%4)))
		}
		check(b.Apply(changes(changed)))
	}
	check(b.Fold())
}
