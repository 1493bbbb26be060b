package raw

import (
	"iter"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Value is a value at the end of a path.
type Value struct {
	Raw bson.RawValue // points into the document; zero when Missing
	// Elem says that Raw is an element of the array at the path's end. Walk also yields the array itself, without
	// Elem.
	Elem    bool
	Missing bool // the path has no value
}

// Walk yields the values at a path of a document that MongoDB compares with a condition, in MongoDB's order, until
// yield returns false; then it returns false. It does not allocate. It may yield a value twice, or none at all, as
// for "a.b" in {a: [1, 2]}. The zero Path is the document itself.
func Walk(doc bson.Raw, p Path, yield func(Value) bool) bool {
	return walkField(Element{Type: bson.TypeEmbeddedDocument, Data: doc}, p.parts, true, yield)
}

// WalkWhole is Walk for operators on arrays ($size, $elemMatch), without the final array's elements.
func WalkWhole(doc bson.Raw, p Path, yield func(Value) bool) bool {
	return walkField(Element{Type: bson.TypeEmbeddedDocument, Data: doc}, p.parts, false, yield)
}

// walkField continues a path below a field. The zero Element stands for a missing field.
func walkField(e Element, rest []part, spread bool, yield func(Value) bool) bool {
	switch {
	case e.Type == 0:
		return yield(Value{Missing: true})
	case e.Type == bson.TypeArray && len(rest) > 0:
		return walkArray(e.Data, rest, spread, yield)
	case e.Type == bson.TypeArray && spread:
		return walkLeafArray(e, yield)
	case len(rest) == 0:
		return yield(Value{Raw: e.Value()})
	case e.Type != bson.TypeEmbeddedDocument:
		return yield(Value{Missing: true})
	}
	below, _ := Lookup(e.Data, rest[0].name)
	return walkField(below, rest[1:], spread, yield)
}

// walkLeafArray yields the elements of the array at a path's end, nested arrays whole, then the array.
func walkLeafArray(array Element, yield func(Value) bool) bool {
	for e := range All(array.Data) {
		if !yield(Value{Raw: e.Value(), Elem: true}) {
			return false
		}
	}
	return yield(Value{Raw: array.Value()})
}

// walkArray continues a path inside an array: through each document in it, and, if the next part is
// a number, through the element at that index. Both may apply to one element.
func walkArray(array []byte, parts []part, spread bool, yield func(Value) bool) bool {
	index, rest := parts[0].index, parts[1:]
	r := Read(array)
	i := 0
	for e, ok := r.Next(); ok; e, ok = r.Next() {
		more := true
		if e.Type == bson.TypeEmbeddedDocument {
			more = walkField(e, parts, spread, yield)
		}
		if more && i == index && (len(rest) == 0 || e.Type == bson.TypeEmbeddedDocument || e.Type == bson.TypeArray) {
			more = walkField(e, rest, spread && len(rest) > 0, yield) // an array at a final index is not opened
		}
		if !more {
			return false
		}
		i++
	}
	return true
}

// Below calls field with the name of each field of the documents at a path, and array with the number of elements of
// each array there and whether it is nested in another array. All longer paths lead through one of these. Names are
// valid until field returns.
func Below(doc bson.Raw, p Path, field func(name []byte), array func(n int, nested bool)) {
	Walk(doc, p, func(v Value) bool {
		switch v.Raw.Type {
		case bson.TypeEmbeddedDocument:
			for e := range All(v.Raw.Value) {
				field(e.Key)
			}
		case bson.TypeArray:
			array(Count(v.Raw), v.Elem)
		}
		return true
	})
}

// Field returns the value of an aggregation expression's path below a value: "$a.b" is Field of a's value and [b].
// The path has no array indexes. For an array, Field returns an array of the values in those elements that are
// documents; it skips other elements, nested arrays included. The zero RawValue is a missing value.
func Field(v bson.RawValue, names []string) bson.RawValue {
	if len(names) == 0 {
		return v
	}
	switch v.Type {
	case bson.TypeEmbeddedDocument:
		return Field(Get(v.Value, names[0]), names[1:])
	case bson.TypeArray:
		var found Builder
		for element := range Elements(v) {
			if element.Type == bson.TypeEmbeddedDocument {
				if below := Field(element, names); below.Type != 0 {
					found.Push(below)
				}
			}
		}
		return found.Finish(bson.TypeArray)
	}
	return bson.RawValue{}
}

// Elements yields the elements of an array, and nothing for other values.
func Elements(v bson.RawValue) iter.Seq[bson.RawValue] {
	return func(yield func(bson.RawValue) bool) {
		if v.Type != bson.TypeArray {
			return
		}
		r := Read(v.Value) // All would allocate here
		for e, ok := r.Next(); ok && yield(e.Value()); e, ok = r.Next() {
		}
	}
}

// Count returns the number of elements of an array.
func Count(array bson.RawValue) (n int) {
	for range Elements(array) {
		n++
	}
	return n
}

// At returns the element at a position of an array, counted from the end if negative, or the zero RawValue.
func At(array bson.RawValue, at int) bson.RawValue {
	if at < 0 {
		at += Count(array)
	}
	for v := range Elements(array) {
		if at == 0 {
			return v
		}
		at--
	}
	return bson.RawValue{}
}
