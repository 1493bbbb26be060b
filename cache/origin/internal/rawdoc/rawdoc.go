// Package rawdoc holds the few edits that the stores make to documents in their
// encoded form: giving one an _id, keeping some of its fields, taking one out.
// No function changes its argument; what is returned shares no memory with it,
// unless its comment says so.
package rawdoc

import (
	"errors"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// ErrNoID marks a document without _id.
var ErrNoID = errors.New("document has no _id")

// ID returns a document's _id, which shares the document's memory.
func ID(doc bson.Raw) (bson.RawValue, error) {
	id, err := doc.LookupErr("_id")
	if errors.Is(err, bsoncore.ErrElementNotFound) {
		return id, ErrNoID
	}
	if err != nil {
		return id, fmt.Errorf("malformed document: %w", err)
	}
	return id, nil
}

// WithID returns a valid document that has an _id and that _id: the document
// itself, or a copy with a new ObjectID in front.
func WithID(doc bson.Raw) (bson.Raw, bson.RawValue, error) {
	if err := doc.Validate(); err != nil {
		return nil, bson.RawValue{}, fmt.Errorf("malformed document: %w", err)
	}
	id, err := ID(doc)
	if err == nil {
		return doc, id, checkID(id)
	}
	if !errors.Is(err, ErrNoID) {
		return nil, id, err
	}
	oid := bson.NewObjectID()
	id = bson.RawValue{Type: bson.TypeObjectID, Value: oid[:]}
	doc, err = Build(len(doc)+len("_id")+len(oid)+2, func(dst []byte) []byte {
		return append(AppendValue(dst, "_id", id), doc[4:len(doc)-1]...)
	})
	return doc, id, err
}

// IDFirst returns the document with its _id, if it has one, before all other fields:
// itself where it is there.
func IDFirst(doc bson.Raw) (bson.Raw, error) {
	if first, err := doc.IndexErr(0); err == nil && first.Key() == "_id" {
		return doc, nil
	}
	elements, err := doc.Elements()
	if err != nil {
		return nil, fmt.Errorf("malformed document: %w", err)
	}
	at := slices.IndexFunc(elements, func(e bson.RawElement) bool { return e.Key() == "_id" })
	if at < 0 {
		return doc, nil
	}
	return Build(len(doc), func(dst []byte) []byte {
		dst = append(dst, elements[at]...)
		for _, e := range slices.Delete(elements, at, at+1) {
			dst = append(dst, e...)
		}
		return dst
	})
}

// checkID refuses the types that MongoDB refuses for an _id: equality with one of
// them would mean more than that one document.
func checkID(id bson.RawValue) error {
	switch id.Type {
	case bson.TypeArray, bson.TypeRegex, bson.TypeUndefined:
		return fmt.Errorf("_id may not be of type %s", id.Type)
	}
	return nil
}

// Project keeps _id and the named top-level fields, in the document's order.
func Project(doc bson.Raw, fields []string) (bson.Raw, error) {
	return Keep(doc, func(name string) bool { return name == "_id" || slices.Contains(fields, name) })
}

// Keep returns the document with those top-level fields whose name keep accepts.
func Keep(doc bson.Raw, keep func(name string) bool) (bson.Raw, error) {
	elements, err := doc.Elements()
	if err != nil {
		return nil, fmt.Errorf("malformed document: %w", err)
	}
	return Build(len(doc), func(dst []byte) []byte {
		for _, e := range elements {
			if keep(e.Key()) {
				dst = append(dst, e...)
			}
		}
		return dst
	})
}

// Build returns the document whose elements fill appends; size is a guess at its length.
func Build(size int, fill func(dst []byte) []byte) (bson.Raw, error) {
	start, dst := bsoncore.AppendDocumentStart(make([]byte, 0, size))
	return bsoncore.AppendDocumentEnd(fill(dst), start)
}

// AppendValue appends one element.
func AppendValue(dst []byte, name string, v bson.RawValue) []byte {
	return bsoncore.AppendValueElement(dst, name, bsoncore.Value{Type: bsoncore.Type(v.Type), Data: v.Value})
}

// Clone returns a value that shares no memory with v.
func Clone(v bson.RawValue) bson.RawValue {
	return bson.RawValue{Type: v.Type, Value: slices.Clone(v.Value)}
}
