package view

import (
	"context"
	"sort"

	"github.com/bits-and-blooms/bitset"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/filter"
)

// checkEvery is how many values or rows are decided between two looks at the context.
const checkEvery = 4096

// lookup adds the slots (base + row) whose row holds a value that passes the test.
func (x *pathIndex) lookup(ctx context.Context, test filter.Test, base Slot, into *bitset.BitSet) error {
	switch t := test.(type) {
	case *filter.Compare:
		from, to := x.stretch(t)
		return x.decide(ctx, test, from, to, base, into)
	case *filter.In:
		return x.lookupIn(ctx, t, base, into)
	}
	return x.decide(ctx, test, 0, len(x.values), base, into)
}

// lookupIn unites the equalities of $in; what else $in may hold (expressions,
// null, which also means missing) is decided value by value.
func (x *pathIndex) lookupIn(ctx context.Context, in *filter.In, base Slot, into *bitset.BitSet) error {
	if len(in.Regexes) > 0 || len(in.Values) > len(x.values) {
		return x.decide(ctx, in, 0, len(x.values), base, into)
	}
	for _, v := range in.Values {
		from, to := x.stretch(&filter.Compare{Op: filter.Eq, Value: v})
		if err := x.decide(ctx, in, from, to, base, into); err != nil {
			return err
		}
	}
	return nil
}

// decide asks the test for each value of a stretch.
func (x *pathIndex) decide(ctx context.Context, test filter.Test, from, to int, base Slot, into *bitset.BitSet) error {
	for i := from; i < to; i++ {
		if (i-from)%checkEvery == checkEvery-1 && ctx.Err() != nil {
			return ctx.Err()
		}
		d := &x.values[i]
		ok, err := test.Match(d.Value)
		if err != nil {
			return err
		}
		if ok {
			for _, row := range x.rows[d.from:d.to] {
				into.Set(uint(base) + uint(row))
			}
		}
	}
	return nil
}

// stretch narrows the values that a comparison can be true of. It may be too
// wide, never too narrow: the test decides. Bounds that compare across types
// (null also means missing and undefined; MinKey and MaxKey compare with all)
// are not narrowed but for null's equality, whose kin all sort to the front.
func (x *pathIndex) stretch(c *filter.Compare) (from, to int) {
	switch c.Value.Type {
	case bson.TypeMinKey, bson.TypeMaxKey, bson.TypeUndefined:
		return 0, len(x.values)
	case bson.TypeNull:
		return 0, x.after(c.Value)
	}
	switch c.Op {
	case filter.Eq:
		return x.before(c.Value), x.after(c.Value)
	case filter.Gt, filter.Gte:
		return x.before(c.Value), len(x.values)
	case filter.Lt, filter.Lte:
		return 0, x.after(c.Value)
	}
	return 0, len(x.values)
}

// before is the number of values that sort before v.
func (x *pathIndex) before(v bson.RawValue) int {
	return sort.Search(len(x.values), func(i int) bool {
		d := &x.values[i]
		return !d.Missing && filter.CompareValues(d.Raw, v) >= 0
	})
}

// after is the number of values that sort before v or equal to it.
func (x *pathIndex) after(v bson.RawValue) int {
	return sort.Search(len(x.values), func(i int) bool {
		d := &x.values[i]
		return !d.Missing && filter.CompareValues(d.Raw, v) > 0
	})
}
