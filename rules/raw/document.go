package raw

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// ErrNoID reports a document without _id.
var ErrNoID = errors.New("document has no _id")

var errMalformed = errors.New("malformed document")

// ID returns a document's _id, which shares the document's memory.
func ID(doc bson.Raw) (bson.RawValue, error) {
	e, ok := Lookup(doc, "_id")
	if !ok {
		return bson.RawValue{}, ErrNoID
	}
	return e.Value(), nil
}

// ValidID checks a document and returns its _id.
func ValidID(doc bson.Raw) (bson.RawValue, error) {
	if err := doc.Validate(); err != nil {
		return bson.RawValue{}, fmt.Errorf("%w: %w", errMalformed, err)
	}
	id, err := ID(doc)
	return id, cmp.Or(err, checkID(id))
}

// PutID returns a copy of the document with the given _id as first field. It replaces the document's own _id.
func PutID(doc bson.Raw, id bson.RawValue) (bson.Raw, error) {
	var b Builder
	b.Grow(len(doc) + len("_id") + len(id.Value) + 2)
	b.Add("_id", id)
	err := b.Copy(doc, func(name string) bool { return name != "_id" })
	return b.Document(), err
}

// checkID refuses what MongoDB refuses for an _id: equality with it would match other documents, too.
func checkID(id bson.RawValue) error {
	switch id.Type {
	case bson.TypeArray, bson.TypeRegex, bson.TypeUndefined:
		return fmt.Errorf("_id may not be of type %s", id.Type)
	}
	return nil
}

// Project returns a copy of the document with _id and the named top-level fields, in the document's order.
func Project(doc bson.Raw, fields []string) (bson.Raw, error) {
	var b Builder
	b.Grow(len(doc))
	err := b.Copy(doc, func(name string) bool { return name == "_id" || slices.Contains(fields, name) })
	return b.Document(), err
}

// SetField returns a copy of the document with a top-level field, at its own position, or else at the end.
func SetField(doc bson.Raw, name string, v bson.RawValue) (bson.Raw, error) {
	var b Builder
	b.Grow(len(doc) + len(name) + len(v.Value) + 2)
	placed := false
	err := b.Copy(doc, func(field string) bool {
		if field == name && !placed {
			b.Add(name, v)
			placed = true
		}
		return field != name
	})
	if !placed {
		b.Add(name, v)
	}
	return b.Document(), err
}

// Clone returns a value that shares no memory with v.
func Clone(v bson.RawValue) bson.RawValue {
	return bson.RawValue{Type: v.Type, Value: slices.Clone(v.Value)}
}
