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
// top-level array if unwind names one. Equal numbers are one group whatever their type; a missing field groups as null.
// Groups come by count descending, ties by value.
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
	return byCount(joinGroups(all)), nil
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
		s.countSets(col.sets, counts, first)
	} else {
		s.countRows(col, base, counts, first)
	}
	for n, count := range counts {
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
func (s *Subset) countRows(col *column, base Slot, counts []int, first []Slot) {
	end := base + Slot(len(col.starts)-1)
	var some [256]uint
	for next, slots := s.rows.NextSetMany(uint(base), some[:]); len(slots) > 0; next, slots = s.rows.NextSetMany(next+1, some[:]) {
		for _, slot := range slots {
			if Slot(slot) >= end {
				return
			}
			row := Slot(slot) - base
			for _, cell := range col.cells[col.starts[row]:col.starts[row+1]] {
				if counts[cell]++; counts[cell] == 1 {
					first[cell] = Slot(slot)
				}
			}
		}
	}
}

// countSets counts the selected rows in each set, and finds the first.
func (s *Subset) countSets(sets []*bitset.BitSet, counts []int, first []Slot) {
	for n, set := range sets {
		if counts[n] = int(set.IntersectionCardinality(s.rows)); counts[n] > 0 {
			slot, _ := set.NextSet(0)
			for !s.rows.Test(slot) {
				slot, _ = set.NextSet(slot + 1)
			}
			first[n] = Slot(slot)
		}
	}
}

// Docs calls add with the documents of rows that are not in memory, and with the number of rows that each stands for.
type Docs func(add func(doc bson.Raw, rows int)) error

// GroupDocs is Group for rows that are not in memory.
func GroupDocs(docs Docs, field, unwind string) ([]Group, error) {
	parts := strings.Split(field, ".")
	groups, err := countDocs(docs, false, func(doc bson.Raw, note func(bson.RawValue)) {
		unwound(doc, parts, unwind, func(v bson.RawValue) { note(raw.OrNull(v)) })
	})
	return byCount(groups), err
}

// countDocs counts the values in documents. It keeps no documents except samples.
func countDocs(docs Docs, samples bool, values func(doc bson.Raw, note func(bson.RawValue))) ([]Group, error) {
	var groups raw.Groups[Group]
	err := docs(func(doc bson.Raw, rows int) {
		values(doc, func(v bson.RawValue) {
			group, fresh := groups.At(v)
			if fresh {
				group.Value = raw.Clone(v)
				if samples {
					group.Sample = slices.Clone(doc)
				}
			}
			group.Count += rows
		})
	})
	if err != nil {
		return nil, err
	}
	return joinGroups(groups.All), nil
}

// joinGroups sorts groups by value and joins groups with equal values.
func joinGroups(groups []Group) []Group {
	return raw.JoinEqual(groups, func(g Group) bson.RawValue { return g.Value }, func(into *Group, from Group) { into.Count += from.Count })
}

func byCount(groups []Group) []Group {
	slices.SortStableFunc(groups, func(a, b Group) int { return cmp.Compare(b.Count, a.Count) })
	return groups
}
