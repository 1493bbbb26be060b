package raw

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Sort is an order by one or more fields. Callers read each document's keys once and compare only those.
type Sort []SortField

// SortField is one field of a Sort.
type SortField struct {
	Path Path
	Desc bool
}

// ByID is the field that orders documents by their _id.
var ByID = SortField{Path: PathOf("_id")}

// Total returns the order with ties broken by _id.
func (s Sort) Total() Sort {
	for i, f := range s {
		if f.Path.Equal(ByID.Path) {
			return s[:i+1]
		}
	}
	return append(slices.Clip(s), ByID)
}

// Has reports whether the order has a field with a path.
func (s Sort) Has(path Path) bool {
	return slices.ContainsFunc(s, func(f SortField) bool { return f.Path.Equal(path) })
}

// Equal reports whether two orders sort rows alike, ties broken by _id.
func (s Sort) Equal(other Sort) bool {
	return slices.EqualFunc(s.Total(), other.Total(),
		func(a, b SortField) bool { return a.Desc == b.Desc && a.Path.Equal(b.Path) })
}

// String returns the order as clients write it, such as "-year,title".
func (s Sort) String() string {
	all := make([]string, len(s))
	for i, f := range s {
		if all[i] = f.Path.String(); f.Desc {
			all[i] = "-" + all[i]
		}
	}
	return strings.Join(all, ",")
}

// ReadKeys sets keys to the values by which a document is sorted, one for each field.
func (s Sort) ReadKeys(keys []bson.RawValue, doc bson.Raw) {
	for i, f := range s {
		keys[i] = f.Key(doc)
	}
}

// CompareKeys compares two documents by their keys, as MongoDB sorts them: -1, 0 or 1. If several
// fields lead into the same array, each uses its own best element.
func (s Sort) CompareKeys(a, b []bson.RawValue) int {
	for i, f := range s {
		if c := f.compare(a[i], b[i]); c != 0 {
			return c
		}
	}
	return 0
}

func (f SortField) compare(a, b bson.RawValue) int {
	if f.Desc {
		return Compare(b, a)
	}
	return Compare(a, b)
}

// Documents sorts documents and keeps the order of equal ones.
func (s Sort) Documents(docs []bson.Raw) {
	type keyed struct {
		doc  bson.Raw
		keys []bson.RawValue
	}
	all := make([]keyed, len(docs))
	for i, doc := range docs {
		all[i] = keyed{doc, make([]bson.RawValue, len(s))}
		s.ReadKeys(all[i].keys, doc)
	}
	slices.SortStableFunc(all, func(a, b keyed) int { return s.CompareKeys(a.keys, b.keys) })
	for i := range docs {
		docs[i] = all[i].doc
	}
}

// Key returns the value by which a document is sorted. An array counts as its least element, or as its greatest if
// the order is descending; a missing value is null; an empty array at the path's end is undefined, which sorts before
// null.
func (f SortField) Key(doc bson.Raw) (key bson.RawValue) {
	first := true
	sortValue(bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: doc}, f.Path.parts, true, func(v bson.RawValue) {
		if first || f.compare(v, key) < 0 {
			key, first = v, false
		}
	})
	return key
}

// sortValue yields the values by which MongoDB sorts v, at the rest of a path. Like an index, it
// opens the arrays on the way and one at the end, but no arrays in arrays, and yields null for a
// missing value.
func sortValue(v bson.RawValue, rest []part, open bool, yield func(bson.RawValue)) {
	switch {
	case open && v.Type == bson.TypeArray:
		sortArray(v, rest, yield)
	case v.Type == bson.TypeEmbeddedDocument && len(rest) > 0:
		sortValue(Get(v.Value, rest[0].name), rest[1:], true, yield)
	case v.Type == 0 || len(rest) > 0:
		yield(null)
	default:
		yield(v)
	}
}

// sortArray yields the values below an array. A number in the path selects one element if the array has it.
func sortArray(array bson.RawValue, rest []part, yield func(bson.RawValue)) {
	if len(rest) > 0 && rest[0].index >= 0 {
		if v := At(array, rest[0].index); v.Type != 0 {
			sortValue(v, rest[1:], true, yield)
			return
		}
	}
	empty := true
	for v := range Elements(array) {
		empty = false
		sortValue(v, rest, false, yield)
	}
	switch {
	case empty && len(rest) == 0:
		yield(bson.RawValue{Type: bson.TypeUndefined})
	case empty:
		yield(null)
	}
}

// null stands for a missing value.
var null = bson.RawValue{Type: bson.TypeNull}
