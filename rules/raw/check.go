package raw

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
)

const (
	MaxDocument = 16 << 20 // MongoDB's limit on the size of a document, in bytes
	MaxDepth    = 200      // how deep a MongoDB server lets documents and arrays nest
	MinDocument = 5        // size of the empty document
)

// flaw is a fault in a BSON document, with the path to it.
type flaw struct{ path, reason string }

// Error returns the path, unless the fault concerns the document as a whole, and the reason.
func (f *flaw) Error() string {
	if f.path == "" {
		return f.reason
	}
	path := f.path
	if len(path) > maxPath {
		path = path[:maxPath] + "…"
	}
	return fmt.Sprintf("field %q: %s", path, f.reason)
}

// maxPath bounds the path in an error, so that a truncated message still contains the reason.
const maxPath = 100

// within prepends name to the path of a flaw.
func within(name []byte, err error) error {
	f, _ := errors.AsType[*flaw](err)
	if f.path == "" {
		return &flaw{string(name), f.reason}
	}
	return &flaw{string(name) + "." + f.path, f.reason}
}

// Check returns an error unless doc is one document, well-formed on all levels and nested no deeper than MaxDepth.
// bson.Raw.Validate checks only the top level.
func Check(doc []byte) error { return check(doc, MaxDepth) }

// CheckDepth reports whether doc is well-formed and has at most depth levels.
func CheckDepth(doc []byte, depth int) bool { return check(doc, depth) == nil }

// CheckValue returns an error unless v is one value that is well-formed on all levels.
func CheckValue(v bson.RawValue) error {
	if Size(v.Type, v.Value) != len(v.Value) {
		return errors.New("malformed value")
	}
	return checkValue(Element{Type: v.Type, Data: v.Value}, MaxDepth+1)
}

// check returns a *flaw, also for more than depth levels, so that no input can exhaust the stack.
func check(doc []byte, depth int) error {
	switch {
	case depth <= 0:
		return &flaw{reason: fmt.Sprintf("nested more than %d levels deep", MaxDepth)}
	case len(doc) < MinDocument || int64(Length(doc)) != int64(len(doc)):
		return &flaw{reason: "length does not fit the document"}
	case doc[len(doc)-1] != 0:
		return &flaw{reason: "document does not end with a zero byte"}
	}
	r := Read(doc)
	for e, ok := r.Next(); ok; e, ok = r.Next() {
		if err := checkValue(e, depth); err != nil {
			return within(e.Key, err)
		}
	}
	if r.Faulty() {
		return faultOf(r.rest)
	}
	return nil
}

// checkValue checks an element's value, whose size Read has checked.
func checkValue(e Element, depth int) error {
	switch e.Type {
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		return check(e.Data, depth-1)
	case bson.TypeCodeWithScope:
		_, scope := ScopedParts(e.Data)
		return check(scope, depth-1)
	case bson.TypeBoolean:
		if e.Data[0] > 1 {
			return &flaw{reason: "boolean is neither 0 nor 1"}
		}
	case bson.TypeBinary: // the old subtype has a second length inside
		n := len(e.Data) - 5
		if e.Data[4] == bson.TypeBinaryBinaryOld && (n < 4 || int(Length(e.Data[5:])) != n-4) {
			return &flaw{reason: fmt.Sprintf("old %s of length %d does not fit its content", e.Type, n)}
		}
	}
	return nil
}

// faultOf returns the flaw of the malformed element at the start of b.
func faultOf(b []byte) error {
	name, _, ok := bytes.Cut(b[1:], []byte{0})
	if !ok {
		return &flaw{reason: "field name without end"}
	}
	f := &flaw{string(name), fmt.Sprintf("unknown type 0x%02x", b[0])}
	if kind := bson.Type(b[0]); BracketOf(kind) != BracketMissing {
		f.reason = fmt.Sprintf("%s is cut off or malformed", kind)
	}
	return f
}

// Length reads the length at the beginning of b.
func Length(b []byte) int32 { return int32(binary.LittleEndian.Uint32(b)) }

// CheckStorable checks whether stores accept a well-formed document, so that no write fails half-way: its size, the
// type of its _id, and that no top-level field is an operator. It returns the _id, or the zero value if there is
// none.
func CheckStorable(doc bson.Raw) (id bson.RawValue, err error) {
	if len(doc) > MaxDocument {
		return id, TooLarge(int64(len(doc)))
	}
	for e := range All(doc) {
		if len(e.Key) > 0 && e.Key[0] == '$' {
			return id, fmt.Errorf("field %q: a document's own fields may not begin with $", e.Key)
		}
		if id.Type == 0 && string(e.Key) == "_id" {
			id = e.Value()
			if err := checkID(id); err != nil {
				return id, err
			}
		}
	}
	return id, nil
}

// TooLarge returns the error for a document of n bytes, more than MongoDB's limit.
func TooLarge(n int64) error {
	return fmt.Errorf("document of %d bytes: more than MongoDB's limit of %d", n, MaxDocument)
}
