package index

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/rules/raw"
)

// Group is a value with the number of selected rows that have it.
type Group struct {
	Value  bson.RawValue
	Count  int
	Sample bson.Raw // of a facet, one of the rows
}

// Group counts the selected rows by a field's value, as MongoDB's $group with
// {$sum: 1} does, after unwinding a top-level array if unwind names one. Numbers
// that are equal group together whatever their type; a missing field groups as
// null. Groups come by count descending, ties by value.
func (s *Resident) Group(ctx context.Context, field, unwind string) ([]Group, error) {
	var all []Group
	for i, seg := range s.snap.segments {
		err := fair.TurnOf(ctx).Check(ctx)
		if err == nil {
			err = seg.mayDerive(ctx, derivedKey{kind: kindColumn, path: field, arg: unwind})
		}
		if err != nil {
			return nil, err
		}
		col := seg.column(field, unwind)
		counts := make([]int, len(col.values))
		base := uint(s.snap.bases[i])
		end := base + uint(len(seg.rows))
		for slot, ok := s.rows.NextSet(base); ok && slot < end; slot, ok = s.rows.NextSet(slot + 1) {
			row := slot - base
			for _, cell := range col.cells[col.starts[row]:col.starts[row+1]] {
				counts[cell]++
			}
		}
		for n, count := range counts {
			if count > 0 {
				all = append(all, Group{Value: col.values[n], Count: count})
			}
		}
	}
	return byCount(joinGroups(all)), nil
}

// GroupDocs is Group of documents that are not in memory.
func GroupDocs(docs iter.Seq2[bson.Raw, error], field, unwind string) ([]Group, error) {
	parts := strings.Split(field, ".")
	groups, err := countDocs(docs, false, func(doc bson.Raw, note func(bson.RawValue)) {
		unwound(doc, parts, unwind, func(v bson.RawValue) { note(raw.OrNull(v)) })
	})
	return byCount(groups), err
}

// countDocs counts the values that documents have. It keeps none of the documents but samples.
func countDocs(docs iter.Seq2[bson.Raw, error], samples bool, values func(doc bson.Raw, note func(bson.RawValue))) ([]Group, error) {
	var groups raw.Groups[Group]
	for doc, err := range docs {
		if err != nil {
			return nil, err
		}
		values(doc, func(v bson.RawValue) {
			group, fresh := groups.At(v)
			if fresh {
				group.Value = raw.Clone(v)
				if samples {
					group.Sample = slices.Clone(doc)
				}
			}
			group.Count++
		})
	}
	return joinGroups(groups.All), nil
}

// joinGroups sorts groups by value and joins those of equal values.
func joinGroups(groups []Group) []Group {
	return raw.JoinEqual(groups, func(g Group) bson.RawValue { return g.Value }, func(into *Group, from Group) { into.Count += from.Count })
}

// byCount puts groups, which are sorted by value, in the order of their counts.
func byCount(groups []Group) []Group {
	slices.SortStableFunc(groups, func(a, b Group) int { return cmp.Compare(b.Count, a.Count) })
	return groups
}
