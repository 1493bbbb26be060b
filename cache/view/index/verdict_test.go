package index_test

import (
	"bytes"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view/index"
	"vitrine/rules/filter"
)

// TestRowsAreConfirmedOnce: after a refresh the matcher reads only the changed rows for a condition
// on elements. The test changes the bytes of the other rows, so that reading them would show.
func TestRowsAreConfirmedOnce(t *testing.T) {
	const rows = 2000
	doc := func(id int) bson.D {
		return bson.D{{Key: "_id", Value: int32(id)},
			{Key: "authors", Value: bson.A{bson.D{{Key: "aoi", Value: true}}}}}
	}
	var docs []bson.Raw
	for id := range rows {
		docs = append(docs, mustRaw(doc(id)))
	}
	b := index.NewBuilder(index.Definition{Name: "things"}, index.NewBudget(64<<20, 0))
	f, err := filter.Parse([]byte(`{"authors":{"$elemMatch":{"$or":[{"aoi":true},{"aoi":"1"}]}}}`), filter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	count := func(snap *index.Table) int {
		t.Helper()
		selected, err := snap.Select(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		return selected.Count()
	}
	if got := count(b.Load(docs)); got != rows {
		t.Fatalf("%d rows match, want %d", got, rows)
	}
	for _, row := range docs {
		copy(row, bytes.Replace(row, []byte("\x08aoi\x00\x01"), []byte("\x08aoi\x00\x00"), 1))
	}
	if got := count(b.Apply(changes([]bson.D{doc(7), doc(rows)}))); got != rows+1 {
		t.Errorf("%d rows match after a refresh, want %d", got, rows+1)
	}
}
