package view

import (
	"cmp"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/filter"
)

// ranking sorts rows by a view's order, ties by _id. The sort keys are taken out
// of the documents once: a comparison then costs nanoseconds instead of a walk.
type ranking struct {
	order  filter.Sort
	fields int // keys per row: the order's fields, then _id
	keys   []bson.RawValue
	at     []int32 // position of each row in the slice it was ranked from
}

// rank takes the sort keys of rows; sort.Sort on the result puts at in order.
func rank(order filter.Sort, rows []bson.Raw) *ranking {
	r := &ranking{order: order, fields: len(order) + 1, at: make([]int32, len(rows))}
	r.keys = make([]bson.RawValue, len(rows)*r.fields)
	inParallel(len(rows), 512, func(from, to int) {
		for i := from; i < to; i++ {
			r.at[i] = int32(i)
			keys := r.keys[i*r.fields:]
			for k, field := range order {
				keys[k] = field.Key(rows[i])
			}
			keys[len(order)] = idOf(rows[i])
		}
	})
	return r
}

// compare orders two rows by their positions in the ranked slice.
func (r *ranking) compare(a, b int32) int {
	ka, kb := r.keys[int(a)*r.fields:], r.keys[int(b)*r.fields:]
	for k, field := range r.order {
		if c := filter.CompareValues(ka[k], kb[k]); c != 0 {
			if field.Desc {
				return -c
			}
			return c
		}
	}
	id := len(r.order)
	return cmp.Or(filter.CompareValues(ka[id], kb[id]), cmp.Compare(a, b))
}

func (r *ranking) Len() int           { return len(r.at) }
func (r *ranking) Swap(i, j int)      { r.at[i], r.at[j] = r.at[j], r.at[i] }
func (r *ranking) Less(i, j int) bool { return r.compare(r.at[i], r.at[j]) < 0 }

// idOf returns the row's _id, or a null if it has none.
func idOf(row bson.Raw) bson.RawValue {
	id, err := row.LookupErr("_id")
	if err != nil {
		return bson.RawValue{Type: bson.TypeNull}
	}
	return id
}
