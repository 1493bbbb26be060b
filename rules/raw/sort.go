package raw

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
		c := Compare(f.Key(a), f.Key(b))
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
// Compare. Arrays count by their least element, or their greatest if
// descending; a missing value is null; an empty array at the path's end is
// undefined, which sorts before null.
func (f SortField) Key(doc bson.Raw) (key bson.RawValue) {
	first := true
	sortValuesAt(Body(doc), f.Path.parts, func(v bson.RawValue) {
		if !first {
			c := Compare(v, key)
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
		e, ok := lookupIn(b, parts[i].name)
		rest := parts[i+1:]
		switch {
		case !ok:
			yield(bson.RawValue{Type: bson.TypeNull})
			return
		case e.Type == bson.TypeEmbeddedDocument && len(rest) > 0:
			b = Body(e.Data)
		default:
			sortElement(e, rest, yield)
			return
		}
	}
}

// sortElement yields the values below one element.
func sortElement(e Element, rest []part, yield func(bson.RawValue)) {
	switch {
	case e.Type == bson.TypeArray:
		sortArray(e.Data, rest, yield)
	case len(rest) == 0:
		yield(e.Value())
	case e.Type == bson.TypeEmbeddedDocument:
		sortValuesAt(Body(e.Data), rest, yield)
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
	r := Read(array)
	for e, ok := r.Next(); ok; e, ok = r.Next() {
		empty = false
		switch {
		case len(rest) == 0:
			yield(e.Value())
		case e.Type == bson.TypeEmbeddedDocument:
			sortValuesAt(Body(e.Data), rest, yield)
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
func nth(array []byte, index int) (Element, bool) {
	r := Read(array)
	for e, ok := r.Next(); ok; e, ok = r.Next() {
		if index == 0 {
			return e, true
		}
		index--
	}
	return Element{}, false
}
