package filter

import "go.mongodb.org/mongo-driver/v2/bson"

// Sort is an order of documents, by one field after the other.
type Sort []SortField

// SortField is one field of a Sort.
type SortField struct {
	Path Path
	Desc bool
}

// Compare orders two documents as MongoDB sorts them, without ties broken: -1, 0 or 1.
// Where several fields lead into the same array, each takes its own best element.
func (s Sort) Compare(a, b bson.Raw) int {
	for _, f := range s {
		c := CompareValues(f.Key(a), f.Key(b))
		if f.Desc {
			c = -c
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

// Key returns the value that a document is sorted by, to be compared with
// CompareValues. Arrays count by their least element, or their greatest if
// descending; a missing value is null; an empty array at the path's end is
// undefined, which sorts before null.
func (f SortField) Key(doc bson.Raw) (key bson.RawValue) {
	first := true
	sortValuesAt(body(doc), f.Path.parts, func(v bson.RawValue) {
		if !first {
			c := CompareValues(v, key)
			if f.Desc {
				c = -c
			}
			if c >= 0 {
				return
			}
		}
		key, first = v, false
	})
	return key
}

// sortValuesAt yields the values that sorting sees at a path: like an index, it
// opens the arrays on the way and one at the end, and takes null where nothing is.
func sortValuesAt(b []byte, parts []part, yield func(bson.RawValue)) {
	for i := range parts {
		e, ok := lookup(b, parts[i].name)
		rest := parts[i+1:]
		switch {
		case !ok:
			yield(bson.RawValue{Type: bson.TypeNull})
			return
		case e.typ == bson.TypeEmbeddedDocument && len(rest) > 0:
			b = body(e.value)
		default:
			sortElement(e, rest, yield)
			return
		}
	}
}

// sortElement yields the values below one element.
func sortElement(e element, rest []part, yield func(bson.RawValue)) {
	switch {
	case e.typ == bson.TypeArray:
		sortArray(e.value, rest, yield)
	case len(rest) == 0:
		yield(e.raw())
	case e.typ == bson.TypeEmbeddedDocument:
		sortValuesAt(body(e.value), rest, yield)
	default:
		yield(bson.RawValue{Type: bson.TypeNull})
	}
}

// sortArray yields the values below an array. A position in the path picks one
// element if there is such.
func sortArray(array []byte, rest []part, yield func(bson.RawValue)) {
	if len(rest) > 0 && rest[0].index >= 0 {
		if e, ok := nth(array, rest[0].index); ok {
			sortElement(e, rest[1:], yield)
			return
		}
	}
	empty := true
	r := read(array)
	for e, ok := r.next(); ok; e, ok = r.next() {
		empty = false
		switch {
		case len(rest) == 0:
			yield(e.raw())
		case e.typ == bson.TypeEmbeddedDocument:
			sortValuesAt(body(e.value), rest, yield)
		default:
			yield(bson.RawValue{Type: bson.TypeNull})
		}
	}
	switch {
	case empty && len(rest) == 0:
		yield(bson.RawValue{Type: bson.TypeUndefined})
	case empty:
		yield(bson.RawValue{Type: bson.TypeNull})
	}
}

// nth returns the element at an index of an array.
func nth(array []byte, index int) (element, bool) {
	r := read(array)
	for e, ok := r.next(); ok; e, ok = r.next() {
		if index == 0 {
			return e, true
		}
		index--
	}
	return element{}, false
}
