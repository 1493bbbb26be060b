package index

import (
	"cmp"
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/filter"
	"vitrine/rules/raw"
)

// Facet counts the selected rows by the values at a path, in MongoDB's order. It opens arrays as matching does,
// counts a row once for each of its values, and treats numbers that are equal as one value, whatever their type. It
// does not count rows with nothing, null or an empty array at the path.
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

// facet returns the segment's column of the values that a facet counts at a path, which x indexes. Counting a few
// rows by the column takes less time than finding them among the rows of all values.
func (s *segment) facet(path raw.Path, x *pathIndex) *column {
	return derive(s, derivedKey{kind: kindFacet, path: path.String()},
		func() *column { return x.column(len(s.rows)) })
}

// column inverts the index: the values that a facet counts, sorted and without duplicates, and for each row its
// values.
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

// Facet says how to count rows: by the values at a path, or by the combinations of values at several paths. Then a
// Group's Value is an array with a value for each path, and rows with nothing at a path have null there. Without
// paths, one group has the number of rows.
type Facet struct {
	// Paths with dots, as in a filter.
	Paths []string
	Rest  bool           // count by combinations for a single path, too
	Under *filter.Filter // counts only rows that match; nil counts all
}

// FacetsAt returns a facet for each of some paths.
func FacetsAt(paths ...string) (all []Facet) {
	for _, path := range paths {
		all = append(all, Facet{Paths: []string{path}})
	}
	return all
}

// mostCombined bounds the combinations of a facet, and so its memory, because records with many persons in many units
// have very many. With samples, which combinations of the same document share, it is about 20 MB.
const mostCombined = 20_000

// docsFacet counts documents for a Facet.
type docsFacet struct {
	Facet
	parsed []raw.Path
	counts raw.Groups[Group]
	sample bson.Raw // copy of the document that is being counted, if a combination needs it
	over   bool     // there are more combinations than mostCombined; they are not counted
}

// FacetsDocs is Subset.Facet, for several facets at once, and for rows that are not in memory. A facet of
// combinations is nil if there are too many.
func FacetsDocs(ctx context.Context, docs Docs, asked []Facet) ([][]Group, error) {
	facets := make([]docsFacet, len(asked))
	for i, f := range asked {
		facets[i].Facet = f
		for _, path := range f.Paths {
			parsed, err := raw.ParsePath(path)
			if err != nil {
				return nil, err
			}
			facets[i].parsed = append(facets[i].parsed, parsed)
		}
	}
	var wrong error // of the filter of a facet
	err := docs(func(doc bson.Raw, rows int) {
		for i := range facets {
			if err := facets[i].count(doc, rows); err != nil && wrong == nil {
				wrong = err
			}
		}
	})
	all := make([][]Group, len(asked))
	err = cmp.Or(err, wrong)
	for i := range facets {
		if err == nil && !facets[i].over {
			all[i], err = joinGroups(ctx, facets[i].counts.All)
		}
	}
	return all, err
}

func (f *docsFacet) count(doc bson.Raw, rows int) error {
	if f.over {
		return nil
	}
	if f.Under != nil {
		if there, err := f.Under.Match(doc); !there || err != nil {
			return err
		}
	}
	combined := f.Rest || len(f.parsed) != 1
	values := make([][]bson.RawValue, len(f.parsed))
	for i, path := range f.parsed {
		values[i] = valuesAt(doc, path, combined)
	}
	if !combined {
		for _, v := range values[0] {
			countDoc(&f.counts, v, doc, rows, true)
		}
		return nil
	}
	f.sample = nil
	f.combine(doc, rows, values, make(bson.A, 0, len(values)))
	return nil
}

// valuesAt returns the distinct values at a path; with rest, null if a condition on null matches.
func valuesAt(doc bson.Raw, path raw.Path, rest bool) (values []bson.RawValue) {
	raw.Walk(doc, path, func(v raw.Value) bool {
		switch {
		case v.Missing && rest, rest && raw.BracketOf(v.Raw.Type) == raw.BracketNull:
			values = append(values, bson.RawValue{Type: bson.TypeNull})
		case inFacet(v):
			values = append(values, v.Raw)
		}
		return true
	})
	return raw.SortUnique(values)
}

// combine counts a document under each combination of the values that begins with some.
func (f *docsFacet) combine(doc bson.Raw, rows int, values [][]bson.RawValue, first bson.A) {
	if f.over {
		return
	}
	if n := len(first); n < len(values) {
		for _, v := range values[n] {
			f.combine(doc, rows, values, append(first, v))
		}
		return
	}
	kind, data, err := bson.MarshalValue(first)
	if err != nil { // cannot fail: the values are those of a document
		panic(err)
	}
	group, fresh := f.counts.At(bson.RawValue{Type: kind, Value: data})
	if fresh {
		if f.sample == nil {
			f.sample = slices.Clone(doc)
		}
		group.Value, group.Sample = bson.RawValue{Type: kind, Value: data}, f.sample
	}
	group.Count += rows
	if f.over = len(f.counts.All) > mostCombined; f.over {
		f.counts = raw.Groups[Group]{}
	}
}

// inFacet reports whether a facet counts a value that matching sees.
func inFacet(v raw.Value) bool {
	switch raw.BracketOf(v.Raw.Type) {
	case raw.BracketMissing, raw.BracketNull, raw.BracketArray:
		return false
	}
	return true
}
