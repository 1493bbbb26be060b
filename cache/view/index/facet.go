package index

import (
	"context"
	"iter"
	"slices"

	"github.com/bits-and-blooms/bitset"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/rules/raw"
)

// FacetValue is a value with the number of selected rows that have it.
type FacetValue struct {
	Value  bson.RawValue
	Count  int
	Sample bson.Raw // one of the rows
}

// Facet counts the selected rows by the values at a path, in MongoDB's order. Arrays are
// opened as in matching, a row counts once for each of its values, and numbers that are
// equal are one value whatever their type. A row where nothing is, null or an empty array
// counts nowhere.
func (s *Selection) Facet(ctx context.Context, path string) ([]FacetValue, error) {
	parsed, err := raw.ParsePath(path)
	if err != nil {
		return nil, err
	}
	var all []FacetValue
	for i, seg := range s.snap.segments {
		index, err := seg.requestedIndex(ctx, parsed)
		if err != nil {
			return nil, err
		}
		if all, err = s.countValues(ctx, all, index, s.snap.bases[i], seg.rows); err != nil {
			return nil, err
		}
	}
	return joinFacet(all), nil
}

// countValues adds the values of a segment's index that selected rows have.
func (s *Selection) countValues(ctx context.Context, all []FacetValue, x *pathIndex, base Slot, rows []bson.Raw) ([]FacetValue, error) {
	turn := fair.TurnOf(ctx)
	for from := 0; from < len(x.values); {
		if err := turn.Check(ctx); err != nil {
			return nil, err
		}
		to := from + 1
		for to < len(x.values) && x.values[to].equal(&x.values[from]) {
			to++
		}
		if inFacet(x.values[from].Value) {
			count, first := s.countHolding(x, from, to, base)
			if count > 0 {
				all = append(all, FacetValue{Value: x.values[from].Raw, Count: count, Sample: rows[first]})
			}
		}
		from = to
	}
	return all, nil
}

// equal reports whether two values are one in a facet.
func (d *distinct) equal(other *distinct) bool {
	return !d.Missing && !other.Missing && raw.Compare(d.Raw, other.Raw) == 0
}

// countHolding counts the selected rows of a segment that hold one of some values of its
// index, and returns one of them.
func (s *Selection) countHolding(x *pathIndex, from, to int, base Slot) (count int, first uint32) {
	d := &x.values[from]
	if to == from+1 && d.dense != nil && base == 0 {
		for _, row := range x.rows[d.from:d.to] {
			if s.rows.Test(uint(row)) {
				return int(s.rows.IntersectionCardinality(d.dense)), row
			}
		}
		return 0, 0
	}
	var seen *bitset.BitSet // a row may hold several of the values
	if to > from+1 {
		seen = bitset.New(uint(len(x.rows)))
	}
	for i := from; i < to; i++ {
		for _, row := range x.rows[x.values[i].from:x.values[i].to] {
			if !s.rows.Test(uint(base)+uint(row)) || seen != nil && seen.Test(uint(row)) {
				continue
			}
			if seen != nil {
				seen.Set(uint(row))
			}
			if count++; count == 1 {
				first = row
			}
		}
	}
	return count, first
}

// FacetDocs is Facet of documents that are not in memory. It keeps the samples.
func FacetDocs(docs iter.Seq2[bson.Raw, error], path raw.Path) ([]FacetValue, error) {
	var known raw.Groups[FacetValue]
	var values []bson.RawValue // of the row
	for doc, err := range docs {
		if err != nil {
			return nil, err
		}
		values = values[:0]
		raw.Walk(doc, path, func(v raw.Value) bool {
			if inFacet(v) {
				values = append(values, v.Raw)
			}
			return true
		})
		var sample bson.Raw
		for _, v := range raw.SortUnique(values) {
			value, fresh := known.At(v)
			if fresh {
				if sample == nil {
					sample = slices.Clone(doc)
				}
				value.Value, value.Sample = raw.Clone(v), sample
			}
			value.Count++
		}
	}
	return joinFacet(known.All), nil
}

// joinFacet sorts the values of several sets of rows and joins those that are equal.
func joinFacet(values []FacetValue) []FacetValue {
	return raw.JoinEqual(values, func(v FacetValue) bson.RawValue { return v.Value }, func(into *FacetValue, from FacetValue) {
		into.Count += from.Count
	})
}

// inFacet reports whether a facet counts a value that matching sees.
func inFacet(v raw.Value) bool {
	return !v.Missing && v.Raw.Type != bson.TypeArray && v.Raw.Type != bson.TypeNull && v.Raw.Type != bson.TypeUndefined
}
