package index_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view/index"
	"vitrine/rules/ejson"
	"vitrine/rules/filter"
	"vitrine/rules/filter/filtertest"
)

// TestSnapshotAgreesWithMatcher compares set algebra with the row matcher: random documents and
// filters, over snapshots of several segments with dead rows.
func TestSnapshotAgreesWithMatcher(t *testing.T) {
	const batches, filters = 30, 60 // times 33 rows: more than 10,000 pairs
	pairs := 0
	for batch := range batches {
		gen := filtertest.New(uint64(batch))
		snap := randomSnapshot(t, gen)
		for range filters {
			pairs += compareWithMatcher(t, snap, gen.Filter())
		}
	}
	t.Logf("%d pairs of document and filter", pairs)
	if pairs < 10_000 {
		t.Errorf("only %d pairs", pairs)
	}
}

// TestSnapshotAgreesOnExpressions: an expression may fail on some document. Alone and beside other
// conditions it fails in a snapshot exactly if it fails row by row.
func TestSnapshotAgreesOnExpressions(t *testing.T) {
	decided, all := 0, 0
	for batch := range 10 {
		gen := filtertest.New(uint64(batch))
		snap := snapshotOf(t, gen.Plain)
		for i := range 100 {
			inner := gen.Expression()
			other := bson.D{{Key: "n", Value: int32(i%5 - 1)}}
			var f any = inner
			switch i % 4 {
			case 1:
				f = bson.D{{Key: "$and", Value: bson.A{inner, other}}}
			case 2:
				f = bson.D{{Key: "$or", Value: bson.A{inner, gen.Expression(), other}}}
			case 3:
				f = bson.D{
					{Key: "$nor",
						Value: bson.A{inner, bson.D{{Key: "$and", Value: bson.A{gen.Expression(), other}}}}}}
			}
			all++
			if compareWithMatcher(t, snap, mustRaw(f)) > 0 {
				decided++
			}
		}
	}
	if decided < all/4 || decided == all {
		t.Errorf("%d of %d filters could be evaluated, want some of each kind", decided, all)
	}
}

// TestSnapshotAgreesOnTheTables evaluates every filter of the filter language's hand-checked tables
// on every document there.
func TestSnapshotAgreesOnTheTables(t *testing.T) {
	files, err := filepath.Glob("../../../rules/filter/testdata/cases/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("tables: %v, %v", files, err)
	}
	var filters []bson.Raw
	var docs []bson.D
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			switch {
			case strings.HasPrefix(line, "{"):
				if raw, err := ejson.Parse([]byte(line), ejson.Options{}); err == nil {
					filters = append(filters, raw)
				}
			case strings.HasPrefix(line, "+ "), strings.HasPrefix(line, "- "):
				raw, err := ejson.Parse([]byte(line[2:]), ejson.Options{})
				if err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				docs = append(docs, numbered(t, raw, len(docs)))
			}
		}
	}
	snap := load(t, docs, orderOf(t, "year", true))
	pairs := 0
	for _, raw := range filters {
		pairs += compareWithMatcher(t, snap, raw)
	}
	t.Logf("%d pairs of %d filters and %d documents", pairs, len(filters), len(docs))
}

// randomSnapshot applies random documents in three generations, the later ones
// replacing and removing rows of the first.
func randomSnapshot(t *testing.T, gen filtertest.Generator) *index.Table {
	t.Helper()
	return snapshotOf(t, gen.Doc)
}

func snapshotOf(t *testing.T, doc func() bson.Raw) *index.Table {
	t.Helper()
	b := builder(t, orderOf(t, "year", true))
	docs := func(from, to int) (docs []bson.D) {
		for i := from; i < to; i++ {
			docs = append(docs, numbered(t, doc(), i))
		}
		return docs
	}
	var rows []bson.Raw
	for _, d := range docs(0, 25) {
		rows = append(rows, mustRaw(d))
	}
	b.Load(rows)
	b.Apply(changes(docs(20, 30), int32(3)))
	return b.Apply(changes(docs(28, 34), int32(5), int32(21)))
}

// numbered sets a document's _id to a number.
func numbered(t *testing.T, raw bson.Raw, n int) bson.D {
	t.Helper()
	var d bson.D
	if err := bson.Unmarshal(raw, &d); err != nil {
		t.Fatal(err)
	}
	d = slices.DeleteFunc(d, func(e bson.E) bool { return e.Key == "_id" })
	return append(bson.D{{Key: "_id", Value: int32(n)}}, d...)
}

// compareWithMatcher returns how many rows it compared. If a filter fails on some row, both ways
// must return an error.
func compareWithMatcher(t *testing.T, snap *index.Table, spelled bson.Raw) (rows int) {
	t.Helper()
	f, err := filter.FromBSON(spelled, filter.Options{})
	if err != nil {
		return 0 // refused: there is no answer to compare
	}
	want, failed := map[index.Slot]bool{}, error(nil)
	every, err := snap.Select(context.Background(), filter.All())
	if err != nil {
		t.Fatal(err)
	}
	for row := range every.Rows(context.Background(), 0, 0) {
		if want[row.Slot], err = f.Match(row.Doc()); err != nil {
			failed = err
		}
	}
	sel, err := snap.Select(context.Background(), f)
	if err != nil || failed != nil {
		if err == nil || failed == nil {
			t.Errorf("%s: select fails with %v, the matcher with %v", spelled, err, failed)
		}
		return 0
	}
	got := map[index.Slot]bool{}
	for row := range sel.Rows(context.Background(), 0, 0) {
		got[row.Slot] = true
	}
	for slot, hit := range want {
		if got[slot] != hit {
			t.Errorf("%s on %s: snapshot %v, matcher %v", spelled, snap.Doc(slot), got[slot], hit)
		}
	}
	return len(want)
}

// TestTextComparisons: a comparison with a text selects the same rows as row by row, whatever else
// its path holds: nothing, other types, symbols, which sort among texts, and arrays.
func TestTextComparisons(t *testing.T) {
	texts := []any{"", "a", "ab", "b", "é", "a\x00", "ab"}
	others := map[string][]any{
		"texts only": nil,
		"other types": {nil, int32(1), bson.D{{Key: "a", Value: "b"}}, true, bson.JavaScript("ab"), bson.MinKey{},
			bson.MaxKey{}, bson.Undefined{}, bson.Regex{Pattern: "a"}},
		"arrays":  {bson.A{"a", "c"}, bson.A{}, bson.A{"b", int32(1), bson.A{"ab"}}},
		"symbols": {bson.Symbol("aa"), bson.Symbol("ab"), bson.Symbol("")},
	}
	for name, more := range others {
		t.Run(name, func(t *testing.T) {
			docs := []bson.D{{{Key: "_id", Value: int32(-1)}}}
			for i, v := range slices.Concat(texts, more) {
				docs = append(docs, bson.D{{Key: "_id", Value: int32(i)}, {Key: "v", Value: v}})
			}
			snap := load(t, docs, nil)
			for _, op := range []string{"$eq", "$ne", "$gt", "$gte", "$lt", "$lte"} {
				for _, v := range []any{"", "a", "aa", "ab", "ac", "é", "z", bson.Symbol("ab"), bson.Symbol("aa")} {
					compareWithMatcher(t, snap, mustRaw(bson.D{{Key: "v", Value: bson.D{{Key: op, Value: v}}}}))
				}
			}
		})
	}
}
