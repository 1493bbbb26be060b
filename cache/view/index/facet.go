package index

import (
	"context"
	"iter"

	"github.com/bits-and-blooms/bitset"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/rules/raw"
)

// Facet counts the selected rows by the values at a path, in MongoDB's order. Arrays are
// opened as in matching, a row counts once for each of its values, and numbers that are
// equal are one value whatever their type. Rows with nothing, null or an empty array at
// the path are not counted.
func (s *Resident) Facet(ctx context.Context, path string) (all []Group, err error) {
	parsed, err := raw.ParsePath(path)
	if err != nil {
		return nil, err
	}
	turn := fair.TurnOf(ctx)
	q := query{into: bitset.New(uint(s.snap.size))}
	for i, seg := range s.snap.segments {
		if q.index, err = seg.requestedIndex(ctx, parsed); err != nil {
			return nil, err
		}
		q.base = s.snap.bases[i]
		values := q.index.values
		for from, to := 0, 0; from < len(values); from = to {
			if err := turn.Check(ctx); err != nil {
				return nil, err
			}
			for to = from + 1; to < len(values) && !values[to].Missing && raw.Compare(values[from].Raw, values[to].Raw) == 0; to++ {
			}
			if !inFacet(values[from].Value) {
				continue
			}
			if count, first := s.having(&q, from, to); count > 0 {
				all = append(all, Group{values[from].Raw, count, s.snap.Doc(first)})
			}
		}
	}
	return joinGroups(all), nil
}

// having counts the selected rows that have one of some values of an index, and returns
// one of them.
func (s *Resident) having(q *query, from, to int) (count int, first Slot) {
	if to == from+1 && q.index.values[from].dense == nil {
		for _, row := range q.index.rowsOf(from) {
			if slot := q.base + Slot(row); s.rows.Test(uint(slot)) {
				if count++; count == 1 {
					first = slot
				}
			}
		}
		return count, first
	}
	q.into.ClearAll()
	for value := from; value < to; value++ {
		q.add(value)
	}
	q.into.InPlaceIntersection(s.rows)
	slot, _ := q.into.NextSet(0)
	return int(q.into.Count()), Slot(slot)
}

// FacetDocs is Facet of documents that are not in memory.
func FacetDocs(docs iter.Seq2[bson.Raw, error], path raw.Path) ([]Group, error) {
	var values []bson.RawValue // of a row
	return countDocs(docs, true, func(doc bson.Raw, note func(bson.RawValue)) {
		values = values[:0]
		raw.Walk(doc, path, func(v raw.Value) bool {
			if inFacet(v) {
				values = append(values, v.Raw)
			}
			return true
		})
		for _, v := range raw.SortUnique(values) {
			note(v)
		}
	})
}

// inFacet reports whether a facet counts a value that matching sees.
func inFacet(v raw.Value) bool {
	switch raw.BracketOf(v.Raw.Type) {
	case raw.BracketMissing, raw.BracketNull, raw.BracketArray:
		return false
	}
	return true
}
