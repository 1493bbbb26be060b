package index

import (
	"bytes"
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
	Value bson.RawValue
	Count int
}

// Group counts the selected rows by a field's value, as MongoDB's $group with
// {$sum: 1} does, after unwinding a top-level array if unwind names one. Numbers
// that are equal group together whatever their type; a missing field groups as
// null. Groups come by count descending, ties by value.
func (s *Selection) Group(ctx context.Context, field, unwind string) ([]Group, error) {
	var all []Group
	for i, seg := range s.snap.segments {
		err := fair.TurnOf(ctx).Check(ctx)
		if err == nil && !seg.has(derivedKey{kind: kindColumn, path: field, arg: unwind}) {
			err = seg.mayDerive(ctx)
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
	return byCount(all), nil
}

// GroupDocs is Group of documents that are not in memory. It keeps none of them.
func GroupDocs(docs iter.Seq2[bson.Raw, error], field, unwind string) ([]Group, error) {
	parts := strings.Split(field, ".")
	places := map[string]int{}
	var groups []Group
	for doc, err := range docs {
		if err != nil {
			return nil, err
		}
		unwound(doc, parts, unwind, func(v bson.RawValue) {
			if v.Type == 0 || v.Type == bson.TypeUndefined {
				v = bson.RawValue{Type: bson.TypeNull}
			}
			key := Key(v)
			at, known := places[key]
			if !known {
				at = len(groups)
				places[key] = at
				groups = append(groups, Group{Value: bson.RawValue{Type: v.Type, Value: slices.Clone(v.Value)}})
			}
			groups[at].Count++
		})
	}
	return byCount(groups), nil
}

// byCount joins groups of equal values and puts them in their order.
func byCount(groups []Group) []Group {
	groups = mergeEqual(groups)
	slices.SortStableFunc(groups, func(a, b Group) int { return cmp.Compare(b.Count, a.Count) })
	return groups
}

// mergeEqual sorts groups by value and joins those that MongoDB holds equal,
// such as 1 and 1.0; the first of them in a fixed order lends its spelling.
func mergeEqual(groups []Group) []Group {
	slices.SortFunc(groups, func(a, b Group) int {
		return cmp.Or(
			raw.Compare(a.Value, b.Value),
			cmp.Compare(a.Value.Type, b.Value.Type),
			bytes.Compare(a.Value.Value, b.Value.Value),
		)
	})
	merged := groups[:0]
	for _, g := range groups {
		if n := len(merged); n > 0 && raw.Compare(merged[n-1].Value, g.Value) == 0 {
			merged[n-1].Count += g.Count
			continue
		}
		merged = append(merged, g)
	}
	return merged
}
