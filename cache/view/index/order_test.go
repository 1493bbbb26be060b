package index_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/filter"
	"vitrine/rules/raw"
)

// TestOrder: rows with any values stand in the view's order, which is of one field or of two, with
// ties broken by _id, in whatever order they arrive. The test compares every pair as MongoDB
// compares documents.
func TestOrder(t *testing.T) {
	const big = 1 << 60 // float64 cannot distinguish neighbouring whole numbers of this size
	half, err := bson.ParseDecimal128("0.5")
	if err != nil {
		t.Fatal(err)
	}
	values := []any{
		nil, "", "2020", true, bson.MinKey{}, bson.MaxKey{}, bson.A{}, bson.A{int32(3), "x"}, bson.D{},
		bson.Undefined{},
		int32(0), int32(2020), int32(-7), int64(2020), int64(big), int64(big + 1), int64(-big - 1),
		int64(math.MaxInt64), int64(math.MinInt64),
		0.0, math.Copysign(0, -1), 2020.0, 2020.5, float64(big), math.NaN(), math.Inf(1), math.Inf(-1),
		math.MaxFloat64, math.SmallestNonzeroFloat64,
	}
	for _, pool := range [][]any{values, append(values, half)} {
		for _, descending := range []bool{false, true} {
			docs := make([]bson.D, 500)
			for i, id := range rand.Perm(len(docs)) {
				docs[i] = bson.D{{Key: "_id", Value: int32(id)}}
				for _, key := range []string{"n", "m"} {
					if n := rand.IntN(len(pool) + 1); n < len(pool) {
						docs[i] = append(docs[i], bson.E{Key: key, Value: pool[n]})
					}
				}
			}
			order := orderOf(t, "n", descending)
			checkOrder(t, docs, order)
			checkOrder(t, docs, append(order, orderOf(t, "m", !descending)...))
		}
	}
}

// checkOrder compares every pair of rows.
func checkOrder(t *testing.T, docs []bson.D, order raw.Sort) {
	t.Helper()
	rows := slices.Collect(load(t, docs, order).Docs())
	if len(rows) != len(docs) {
		t.Fatalf("%d rows of %d documents", len(rows), len(docs))
	}
	keys := make([][]bson.RawValue, len(rows))
	for i, row := range rows {
		keys[i] = make([]bson.RawValue, len(order))
		order.ReadKeys(keys[i], row)
		for j, before := range rows[:i] {
			c := order.CompareKeys(keys[j], keys[i])
			if c > 0 || c == 0 && before.Lookup("_id").Int32() > row.Lookup("_id").Int32() {
				t.Fatalf("descending %t: %s stands before %s", order[0].Desc, before, row)
			}
		}
	}
}

// TestPagesOfAnOrder: any page of sorted rows equals that part of all sorted rows.
func TestPagesOfAnOrder(t *testing.T) {
	docs := make([]bson.D, 300)
	for i, id := range rand.Perm(len(docs)) {
		docs[i] = bson.D{{Key: "_id", Value: int32(id)}, {Key: "n", Value: rand.Int32N(4)},
			{Key: "m", Value: int64(rand.IntN(6))}}
	}
	docs[7][1].Value = "no number"
	selected, err := load(t, docs, nil).Select(t.Context(), filter.All())
	if err != nil {
		t.Fatal(err)
	}
	ids := func(order raw.Sort, offset, limit int) (all []int32) {
		for row := range selected.By(order).Rows(t.Context(), offset, limit) {
			all = append(all, row.Doc().Lookup("_id").Int32())
		}
		return all
	}
	for _, order := range []raw.Sort{orderOf(t, "n", true),
		append(orderOf(t, "n", false), orderOf(t, "m", true)...)} {
		all := ids(order, 0, 0)
		for offset := 0; offset < len(all)+10; offset += rand.IntN(12) {
			limit := 1 + rand.IntN(90)
			want := all[min(offset, len(all)):min(offset+limit, len(all))]
			if got := ids(order, offset, limit); !slices.Equal(got, want) {
				t.Fatalf("%d rows from %d: %v, want %v", limit, offset, got, want)
			}
		}
	}
}
