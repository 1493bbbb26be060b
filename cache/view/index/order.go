package index

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/rules/parallel"
	"vitrine/rules/raw"
)

// ranking sorts rows by a view's order, ties by _id.
type ranking struct {
	order raw.Sort // the view's order, then _id
	rows  []bson.Raw
	keys  []bson.RawValue // keys of each row, one for each field of the order; a zero value is not read yet
	at    []int32         // positions of the rows
}

// rank returns the ranking of rows. It reads keys at the first comparison.
func rank(order raw.Sort, rows []bson.Raw) *ranking {
	r := &ranking{order: append(slices.Clip(order), raw.ByID), rows: rows, at: make([]int32, len(rows))}
	r.keys = make([]bson.RawValue, len(rows)*len(r.order))
	for i := range r.at {
		r.at[i] = int32(i)
	}
	return r
}

// read reads all keys, on several goroutines.
func (r *ranking) read() *ranking {
	const least = 512 // fewer rows are not worth a goroutine
	parallel.Split(len(r.rows), min(runtime.GOMAXPROCS(0), len(r.rows)/least+1), func(_, from, to int) {
		for row := from; row < to; row++ {
			r.order.ReadKeys(r.keys[row*len(r.order):], r.rows[row])
		}
	})
	return r
}

func (r *ranking) key(row int32, field int) bson.RawValue {
	key := &r.keys[int(row)*len(r.order)+field]
	if key.Type == 0 {
		*key = r.order[field].Key(r.rows[row])
	}
	return *key
}

func (r *ranking) compare(a, b int32) int {
	for field, by := range r.order {
		c := raw.Compare(r.key(a, field), r.key(b, field))
		switch {
		case c != 0 && by.Desc:
			return -c
		case c != 0:
			return c
		}
	}
	return cmp.Compare(a, b)
}

// sort sorts rows that are equal in all fields before the given one. Rows outside of the range from first up to last
// may end up in any order.
//
// Most orders begin with numbers (a year, a month), and stores return rows by _id, which breaks ties. So sort applies
// a stable sort by one number after the other, and compares row by row only the stretches of equal numbers that are
// not in order.
func (r *ranking) sort(at []int32, field, first, last int) {
	lead, ok := r.leads(at, field)
	if !ok {
		slices.SortFunc(at, r.compare)
		return
	}
	slices.SortFunc(lead, func(a, b leading) int {
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.at, b.at))
	})
	for i, l := range lead {
		at[i] = l.at
	}
	for from, to := 0, 0; from < min(last, len(lead)); from = to {
		for to = from + 1; to < len(lead) && lead[to].number == lead[from].number; to++ {
		}
		switch same := at[from:to]; {
		case to <= first: // outside of the range
		case field+2 < len(r.order) && r.equal(same, field):
			r.sort(same, field+1, first-from, last-from)
		case !slices.IsSortedFunc(same, r.compare):
			slices.SortFunc(same, r.compare)
		}
	}
}

// inTurn returns the positions of all rows in the order: in the context's turn, several processors sort parts of
// them.
func (r *ranking) inTurn(ctx context.Context) ([]int32, error) {
	return r.at, fair.SortParts(ctx, r.at, func(part []int32) { r.sort(part, 0, 0, len(part)) }, r.compare)
}

func (r *ranking) equal(at []int32, field int) bool {
	return !slices.ContainsFunc(at[1:], func(row int32) bool {
		return raw.Compare(r.key(at[0], field), r.key(row, field)) != 0
	})
}

// leading is a row with a number for a field of the order. Different numbers determine the order of their rows.
type leading struct {
	number float64
	at     int32
}

// leads returns the numbers of rows for a field. It returns false if one of the field's values has none.
func (r *ranking) leads(at []int32, field int) (lead []leading, ok bool) {
	lead = make([]leading, len(at))
	for i, row := range at {
		number, ok := approximate(r.key(row, field))
		if !ok {
			return nil, false
		}
		if r.order[field].Desc {
			number = -number
		}
		lead[i] = leading{number, row}
	}
	return lead, true
}

// approximate returns a number that is never greater for a smaller value: the nearest float64 of a number, and an
// infinity for values that sort below or above all numbers. It returns false for Decimal128.
func approximate(v bson.RawValue) (float64, bool) {
	switch v.Type {
	case bson.TypeDecimal128:
		return 0, false
	case bson.TypeInt32:
		return float64(v.Int32()), true
	case bson.TypeInt64:
		return float64(v.Int64()), true
	case bson.TypeDouble:
		if f := v.Double(); f == f {
			return f, true
		}
		return math.Inf(-1), true // NaN is the smallest number
	}
	return math.Inf(raw.Compare(v, zero)), true
}

var zero = bson.RawValue{Type: bson.TypeInt32, Value: make([]byte, 4)}
