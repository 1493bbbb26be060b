package index_test

import (
	"context"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.uber.org/goleak"

	"vitrine/cache/view/index"
	"vitrine/rules/filter"
	"vitrine/rules/raw"
	"vitrine/rules/testoutput"
)

// The backtracking engine's clock is shared by all expressions and stops by
// itself when none has run for a while.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(testoutput.Limited{Tests: m}, goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock"))
}

// builder makes snapshots in an order.
func builder(t testing.TB, order raw.Sort) *index.Builder {
	t.Helper()
	b := index.NewBuilder(index.Definition{Name: "things", Order: order}, index.NewBudget(256<<20, 0), nil)
	return b
}

// load makes a snapshot of documents.
func load(t testing.TB, docs []bson.D, order raw.Sort) *index.Snapshot {
	t.Helper()
	rows := make([]bson.Raw, len(docs))
	for i, doc := range docs {
		rows[i] = mustRaw(doc)
	}
	return builder(t, order).Load(rows)
}

// changes are new versions of rows, and tombstones.
func changes(docs []bson.D, gone ...any) (all []index.Change) {
	for _, doc := range docs {
		row := mustRaw(doc)
		all = append(all, index.Change{ID: row.Lookup("_id"), Doc: row})
	}
	for _, id := range gone {
		all = append(all, index.Change{ID: mustRaw(bson.D{{Key: "_id", Value: id}}).Lookup("_id")})
	}
	return all
}

func mustRaw(doc any) bson.Raw {
	row, err := bson.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return row
}

// orderOf is an order by one path.
func orderOf(t testing.TB, path string, descending bool) raw.Sort {
	t.Helper()
	p, err := raw.ParsePath(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw.Sort{{Path: p, Desc: descending}}
}

// ids lists the rows that a filter selects, in order.
func ids(t testing.TB, snap *index.Snapshot, json string) (got []string) {
	t.Helper()
	f, err := filter.Parse([]byte(json), filter.Options{})
	if err != nil {
		t.Fatalf("parse %s: %v", json, err)
	}
	selected, err := snap.Select(context.Background(), f)
	if err != nil {
		t.Fatalf("select %s: %v", json, err)
	}
	for row := range selected.Rows(t.Context(), 0, 0) {
		got = append(got, row.Doc().Lookup("_id").StringValue())
	}
	return got
}
