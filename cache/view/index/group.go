package index

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/bits-and-blooms/bitset"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/rules/raw"
)

// Group is a value with the number of selected rows that have it.
type Group struct {
	Value  bson.RawValue
	Count  int
	Sample bson.Raw // in a facet: one of the rows
}

// Group counts the selected rows by a field's value, as MongoDB's $group with {$sum: 1} does, after unwinding a
// top-level array if unwind names one. Equal numbers are one group whatever their type; a missing field groups as
// null. Groups come by count descending, ties by value.
func (s *Subset) Group(ctx context.Context, field, unwind string) ([]Group, error) {
	var all []Group
	for i, seg := range s.table.segments {
		err := seg.mayDerive(ctx, derivedKey{kind: kindColumn, path: field, arg: unwind})
		if err != nil {
			return nil, err
		}
		if all, err = s.tally(ctx, all, i, seg.column(field, unwind), false); err != nil {
			return nil, err
		}
	}
	return byCount(ctx, all)
}

// tally counts the selected rows of the i-th segment by the values of its column, and appends the values with rows to
// groups. With samples each group has its first row.
func (s *Subset) tally(ctx context.Context, groups []Group, i int, col *column, samples bool) ([]Group, error) {
	if err := fair.TurnOf(ctx).Check(ctx); err != nil {
		return nil, err
	}
	counts, first := make([]int, len(col.values)), make([]Slot, len(col.values))
	base := s.table.bases[i]
	if base == 0 && col.sets != nil && len(col.sets)*len(s.rows.Words()) < s.count {
		if err := s.countSets(ctx, col.sets, counts, first); err != nil {
			return nil, err
		}
	} else if err := s.countRows(ctx, col, base, counts, first); err != nil {
		return nil, err
	}
	pace := fair.Pace(ctx)
	for n, count := range counts {
		if err := pace(); err != nil {
			return nil, err
		}
		if count > 0 {
			groups = append(groups, Group{Value: col.values[n], Count: count})
			if samples {
				groups[len(groups)-1].Sample = s.table.Doc(first[n])
			}
		}
	}
	return groups, nil
}

// countRows counts the values of a segment's selected rows, from the slot base on, and finds the first row of each.
func (s *Subset) countRows(ctx context.Context, col *column, base Slot, counts []int, first []Slot) error {
	end, turn := base+Slot(len(col.starts)-1), fair.TurnOf(ctx)
	var some [256]uint
	for next, slots := s.rows.NextSetMany(uint(base),
		some[:]); len(slots) > 0; next, slots = s.rows.NextSetMany(next+1, some[:]) {
		if err := turn.Check(ctx); err != nil {
			return err
		}
		for _, slot := range slots {
			if Slot(slot) >= end {
				return nil
			}
			row := Slot(slot) - base
			for _, cell := range col.cells[col.starts[row]:col.starts[row+1]] {
				if counts[cell]++; counts[cell] == 1 {
					first[cell] = Slot(slot)
				}
			}
		}
	}
	return nil
}

// countSets counts the selected rows in each set, and finds the first.
func (s *Subset) countSets(ctx context.Context, sets []*bitset.BitSet, counts []int, first []Slot) error {
	turn := fair.TurnOf(ctx)
	for n, set := range sets {
		if err := turn.Check(ctx); err != nil {
			return err
		}
		if counts[n] = int(set.IntersectionCardinality(s.rows)); counts[n] > 0 {
			slot, _ := set.NextSet(0)
			for !s.rows.Test(slot) {
				slot, _ = set.NextSet(slot + 1)
			}
			first[n] = Slot(slot)
		}
	}
	return nil
}

// Docs calls add with the documents of rows that are not in memory, and with the number of rows that each stands for.
type Docs func(add func(doc bson.Raw, rows int)) error

// GroupDocs is Group for rows that are not in memory.
func GroupDocs(ctx context.Context, docs Docs, field, unwind string) ([]Group, error) {
	parts := strings.Split(field, ".")
	groups, err := countDocs(docs, false, func(doc bson.Raw, note func(bson.RawValue)) {
		unwound(doc, parts, unwind, func(v bson.RawValue) { note(raw.OrNull(v)) })
	})
	if err != nil {
		return nil, err
	}
	return byCount(ctx, groups)
}

// countDocs counts the values in documents. It keeps no documents except samples.
func countDocs(docs Docs, samples bool, values func(doc bson.Raw, note func(bson.RawValue))) ([]Group, error) {
	var groups raw.Groups[Group]
	err := docs(func(doc bson.Raw, rows int) {
		values(doc, func(v bson.RawValue) { countDoc(&groups, v, doc, rows, samples) })
	})
	return groups.All, err
}

// countDoc counts a document, which stands for a number of rows, in the group of one of its values.
func countDoc(groups *raw.Groups[Group], v bson.RawValue, doc bson.Raw, rows int, sample bool) {
	group, fresh := groups.At(v)
	if fresh {
		group.Value = raw.Clone(v)
		if sample {
			group.Sample = slices.Clone(doc)
		}
	}
	group.Count += rows
}

// byCount joins groups with equal values, and sorts them by count descending, ties by value.
func byCount(ctx context.Context, groups []Group) ([]Group, error) {
	groups, err := joinGroups(ctx, groups)
	if err != nil {
		return nil, err
	}
	return groups, fair.Sort(ctx, groups, func(a, b Group) int { return cmp.Compare(b.Count, a.Count) })
}

// joinGroups sorts groups by value and joins groups with equal values.
func joinGroups(ctx context.Context, groups []Group) ([]Group, error) {
	value := func(g Group) bson.RawValue { return g.Value }
	return JoinEqual(ctx, groups, value, func(into, from *Group) { into.Count += from.Count })
}

// JoinEqual sorts items by their values in the context's turn, and joins those whose values compare equal, such as 1
// and 1.0, into the first by type and bytes. The result has the memory of items.
func JoinEqual[T any](
	ctx context.Context, items []T, value func(T) bson.RawValue, join func(into, from *T),
) ([]T, error) {
	err := fair.Sort(ctx, items, func(a, b T) int { return raw.CompareExactly(value(a), value(b)) })
	pace, joined := fair.Pace(ctx), items[:0]
	for i := 0; i < len(items) && err == nil; i++ {
		if n := len(joined); n > 0 && raw.Compare(value(joined[n-1]), value(items[i])) == 0 {
			join(&joined[n-1], &items[i])
		} else {
			joined = append(joined, items[i])
		}
		err = pace()
	}
	return joined, err
}
