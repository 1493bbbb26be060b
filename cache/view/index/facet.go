package index

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// Facet counts the selected rows by the values at a path, in MongoDB's order. It opens arrays as matching does, counts
// a row once for each of its values, and treats numbers that are equal as one value, whatever their type. It does not
// count rows with nothing, null or an empty array at the path.
func (s *Subset) Facet(ctx context.Context, path string) (all []Group, err error) {
	parsed, err := raw.ParsePath(path)
	if err != nil {
		return nil, err
	}
	for i, seg := range s.table.segments {
		x, err := seg.requestedIndex(ctx, parsed)
		if err != nil {
			return nil, err
		}
		if all, err = s.tally(ctx, all, i, seg.facet(parsed, x), true); err != nil {
			return nil, err
		}
	}
	if len(s.table.segments) > 1 { // a single segment's values are sorted and distinct already
		return joinGroups(ctx, all)
	}
	return all, nil
}

// facet returns the segment's column of the values that a facet counts at a path, which x indexes. Counting a few rows
// by the column takes less time than finding them among the rows of all values.
func (s *segment) facet(path raw.Path, x *pathIndex) *column {
	return derive(s, derivedKey{kind: kindFacet, path: path.String()}, func() *column { return x.column(len(s.rows)) })
}

// column inverts the index: the values that a facet counts, sorted and without duplicates, and for each row its values.
func (x *pathIndex) column(rows int) *column {
	c := &column{starts: make([]uint32, rows+1)}
	found, dense := make([]posting, 0, len(x.rows)), true
	for from, to := 0, 0; from < len(x.values); from = to {
		first := x.values[from]
		for to = from + 1; to < len(x.values) && raw.Compare(first.Raw, x.values[to].Raw) == 0; to++ {
		}
		if !inFacet(first.Value) {
			continue
		}
		dense = dense && to == from+1 && first.dense != nil
		same := x.rows[first.from:x.values[to-1].to]
		if to > from+1 { // a row may have several values
			same = slices.Compact(slices.Sorted(slices.Values(same)))
		}
		for _, row := range same {
			found = append(found, posting{uint32(len(c.values)), row})
			c.starts[row+1]++
		}
		c.values, c.sets = append(c.values, first.Raw), append(c.sets, first.dense)
	}
	if !dense {
		c.sets = nil
	}
	for row := range rows {
		c.starts[row+1] += c.starts[row]
	}
	c.cells = make([]uint32, len(found))
	next := slices.Clone(c.starts)
	for _, p := range found {
		c.cells[next[p.row]] = p.value
		next[p.row]++
	}
	return c
}

// FacetsDocs is Facet, at several paths, for rows that are not in memory.
func FacetsDocs(ctx context.Context, docs Docs, paths []raw.Path) ([][]Group, error) {
	counts := make([]raw.Groups[Group], len(paths))
	var values []bson.RawValue // values of one document
	err := docs(func(doc bson.Raw, rows int) {
		for i, path := range paths {
			values = values[:0]
			raw.Walk(doc, path, func(v raw.Value) bool {
				if inFacet(v) {
					values = append(values, v.Raw)
				}
				return true
			})
			for _, v := range raw.SortUnique(values) {
				countDoc(&counts[i], v, doc, rows, true)
			}
		}
	})
	all := make([][]Group, len(paths))
	for i := range all {
		if err == nil {
			all[i], err = joinGroups(ctx, counts[i].All)
		}
	}
	return all, err
}

// inFacet reports whether a facet counts a value that matching sees.
func inFacet(v raw.Value) bool {
	switch raw.BracketOf(v.Raw.Type) {
	case raw.BracketMissing, raw.BracketNull, raw.BracketArray:
		return false
	}
	return true
}
