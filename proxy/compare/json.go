package compare

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strconv"
)

// json compares two values, of which one may be nil. It decodes one level at a time, and only where their bytes
// differ, so that long lists take little more memory than their text. The order of members does not matter.
func (a *answers) json(path string, old, new value) {
	if bytes.Equal(old, new) || !a.spend(path, 2*workToDecode+workToRead*(len(old)+len(new))) {
		return
	}
	a.depth++
	defer func() { a.depth-- }()
	switch {
	case new == nil:
		a.reportValues(FieldMissing, path, old, nil)
	case old == nil:
		a.reportValues(FieldAdded, path, nil, new)
	case a.depth > mostDepth && max(len(old), len(new)) > mostSpelled:
		a.skip(path, "", "")
	case a.depth > mostDepth && canonical(old) == canonical(new):
	case a.depth > mostDepth:
		a.reportValues(FieldChanged, path, old, new)
	case old[0] == '{' && new[0] == '{':
		if a.fit(path, parts(old), parts(new), mostParts, "fields") {
			a.members(path, decoded[map[string]value](old), decoded[map[string]value](new))
		}
	case old[0] == '[' && new[0] == '[':
		if a.fit(path, parts(old), parts(new), mostParts, "rows") {
			a.rows(path, decoded[[]value](old), decoded[[]value](new))
		}
	case old[0] == '"' && new[0] == '"':
		was, is := decoded[string](old), decoded[string](new)
		if tag.MatchString(was) || tag.MatchString(is) {
			a.markup, a.cleaned = &texts{path, was, is}, nil
			a.html(path, was, is)
			a.markup, a.cleaned = nil, nil
		} else if was != is {
			a.reportValues(FieldChanged, path, old, new)
		}
	case sameNumber(string(old), string(new)):
	case path == "$.count":
		a.reportValues(Count, path, old, new)
	default:
		a.reportValues(FieldChanged, path, old, new)
	}
}

// members compares two objects. Members are visited in the order of their names, so that a report does not depend
// on the order of a map.
func (a *answers) members(path string, old, new map[string]value) {
	for _, name := range slices.Sorted(maps.Keys(old)) {
		a.json(member(path, name), old[name], new[name])
		delete(new, name)
	}
	for _, name := range slices.Sorted(maps.Keys(new)) {
		a.json(member(path, name), nil, new[name])
	}
}

// row is an element of an array. at is the index that paths and reports name, so rows keep it although they are
// paired in any order.
type row struct {
	at    int // its index
	text  value
	id    string // empty if it has none
	twin  *row   // the same row of the other array
	moved bool
	list  string // the relation of the orders of both arrays; see listRelation
	end   value  // the member by which rows of the same rank are sorted
}

// identify returns the rows of an array. An element's id is the first of _id, id and value that it has. Elements
// that are no objects have none.
func (a *answers) identify(path string, array []value) (all []*row) {
	for i, text := range array {
		if !a.spend(path, 2*workToDecode+4*workToRead*len(text)) {
			return nil
		}
		all = append(all, &row{at: i, text: text, id: idOf(text)})
	}
	return all
}

// pair makes twins of rows of two arrays that have the same key, in their order: a search returns a record several
// times if it unwinds an array. It leaves out rows without a key.
func pair(was, is []*row, key func(*row) string) {
	waiting := map[string][]*row{}
	for _, r := range is {
		if k := key(r); r.twin == nil && k != "" {
			waiting[k] = append(waiting[k], r)
		}
	}
	for _, r := range was {
		k := key(r)
		if same := waiting[k]; r.twin == nil && len(same) > 0 {
			r.twin, same[0].twin = same[0], r
			waiting[k] = same[1:]
		}
	}
}

// rows compares two arrays: rows that one of them lacks, rows that have moved, and differences within the others.
// Three steps: pair the rows with equal ids, then mark those that have moved, then pair the rest in their order and
// compare each pair. An edit distance would find a better pairing, but takes the square of the rows.
func (a *answers) rows(path string, old, new []value) {
	was, is := a.identify(path, old), a.identify(path, new)
	if a.work.over {
		return
	}
	// rows with the same id as another: equal ones first
	if several := repeated(was, is); len(several) > 0 {
		pair(was, is, func(r *row) string {
			if !several[r.id] || !a.spend(path, workToDecode+8*workToRead*min(len(r.text), mostSpelled)) {
				return ""
			}
			return r.id + "\x00" + keyOf(r.text)
		})
	}
	pair(was, is, func(r *row) string { // its id, or all of it
		if r.id == "" {
			return "\x00" + keyOf(r.text)
		}
		return r.id
	})
	if markMoved(was, is) {
		if relation := a.listRelation(path, was, is); relation != "" {
			for _, r := range was {
				r.list = relation
			}
		}
	}
	pair(was, is, func(r *row) string { // those without an id and an equal are compared in their order
		switch {
		case r.id != "":
			return ""
		case r.text[0] == '{':
			return "object"
		}
		return "other"
	})
	none := &row{}
	for _, r := range was {
		a.inRow(r, path, r.text, cmp.Or(r.twin, none).text)
	}
	for _, r := range is {
		if r.twin == nil {
			a.inRow(r, path, nil, r.text)
		}
	}
}

// markMoved marks rows of the old array so that the others have one order. Where the orders part, it takes the row
// that is farther away in the other array. One row moved to the front is one difference, not one for every row
// behind it. It reports whether there is any.
func markMoved(was, is []*row) (some bool) {
	for i, j := 0, 0; i < len(was); {
		switch o := was[i]; {
		case o.twin == nil || o.moved:
			i++
		case is[j].twin == nil || is[j].twin.moved: // there is a j, because o.twin is not passed yet
			j++
		case o.twin == is[j]:
			i, j = i+1, j+1
		case o.twin.at-j >= is[j].twin.at-i:
			o.moved, some = true, true
		default:
			is[j].twin.moved, some = true, true
		}
	}
	return some
}

// repeated returns the ids that several rows of an array have: a search that unwinds an array has a row for each of
// its elements.
func repeated(arrays ...[]*row) map[string]bool {
	several := map[string]bool{}
	for _, rows := range arrays {
		seen := make(map[string]bool, len(rows))
		for _, r := range rows {
			if r.id != "" && seen[r.id] {
				several[r.id] = true
			}
			seen[r.id] = true
		}
	}
	return several
}

// inRow compares a row, of which one side may be nil. Differences in a nested row belong to the outer one.
func (a *answers) inRow(r *row, array string, old, new value) {
	row, record := a.row, a.record
	defer func() { a.row, a.record = row, record }()
	a.row, a.record = cmp.Or(row, r.id), cmp.Or(r.id, record)
	path := array + "[" + strconv.Itoa(r.at) + "]"
	switch object := r.text[0] == '{'; {
	case object && new == nil:
		a.reportValues(RowMissing, path, old, nil)
	case object && old == nil:
		a.reportValues(RowAdded, path, nil, new)
	default:
		if r.moved {
			a.reportDifference(Difference{Kind: Order, Path: path, Old: strconv.Itoa(r.at),
				New: strconv.Itoa(r.twin.at), list: r.list})
		}
		a.json(path, old, new)
	}
}
