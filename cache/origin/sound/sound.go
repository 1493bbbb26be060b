// Package sound checks documents that come from outside, byte by byte. What passes can
// be read by everything behind it, however deep it looks; bson.Raw.Validate would not
// do, since it looks at the top level only.
package sound

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
)

const (
	// MaxDocument is MongoDB's limit on the size of a document, in bytes.
	MaxDocument = 16 << 20
	// MaxDepth is how deep documents and arrays may be nested, as deep as a
	// MongoDB server accepts.
	MaxDepth = 200
	// MinDocument is the size of the empty document.
	MinDocument = 5
)

// flaw is what is wrong with a BSON document, and the path to it.
type flaw struct{ path, reason string }

// Error tells the path, unless the flaw is in the document as a whole, and the reason.
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

// maxPath is how much of a path is told: enough to find the place, and a reason that
// follows is not lost where texts are cut.
const maxPath = 100

// within returns the flaw as seen from the document that holds it under name.
func (f *flaw) within(name []byte) *flaw {
	if f.path == "" {
		return &flaw{string(name), f.reason}
	}
	return &flaw{string(name) + "." + f.path, f.reason}
}

// Check tells what is wrong with doc, unless it is one well-formed BSON document all
// the way down, and no deeper than MaxDepth.
func Check(doc []byte) error {
	if f := walk(doc, 1); f != nil {
		return f
	}
	return nil
}

// walk checks a document or array and what it holds. The depth is bounded, so
// that no input can exhaust the stack.
func walk(doc []byte, depth int) *flaw {
	switch {
	case depth > MaxDepth:
		return &flaw{reason: fmt.Sprintf("nested more than %d levels deep", MaxDepth)}
	case len(doc) < MinDocument || int64(Length(doc)) != int64(len(doc)):
		return &flaw{reason: "length does not fit the document"}
	case doc[len(doc)-1] != 0:
		return &flaw{reason: "document does not end with a zero byte"}
	}
	for rest := elements(doc); len(rest) > 0; {
		e, after, f := cut(rest)
		if f != nil {
			return f
		}
		switch e.kind {
		case bson.TypeEmbeddedDocument, bson.TypeArray:
			f = walk(e.value, depth+1)
		case bson.TypeCodeWithScope:
			// length of the whole, string of code, scope document
			f = walk(e.value[8+Length(e.value[4:]):], depth+1)
		}
		if f != nil {
			return f.within(e.name)
		}
		rest = after
	}
	return nil
}

// element is one field of a document; value is as long as its type and its own
// length say, and lies within the document.
type element struct {
	kind  bson.Type
	name  []byte
	value []byte
}

// elements returns the bytes between a document's length and its final zero.
func elements(doc []byte) []byte { return doc[4 : len(doc)-1] }

// cut takes the first element off a document's elements.
func cut(elems []byte) (element, []byte, *flaw) {
	name, after, ok := bytes.Cut(elems[1:], []byte{0})
	if !ok {
		return element{}, nil, &flaw{reason: "field name without end"}
	}
	kind := bson.Type(elems[0])
	size, reason := valueSize(kind, after)
	if reason == "" && size > int64(len(after)) {
		reason = fmt.Sprintf("%s reaches beyond the document", kind)
	}
	if reason != "" {
		return element{}, nil, (&flaw{reason: reason}).within(name)
	}
	return element{kind, name, after[:size]}, after[size:], nil
}

// valueSize returns how many bytes the value at the beginning of b takes, which
// may be more than b has, or what is wrong with it.
func valueSize(kind bson.Type, b []byte) (size int64, reason string) {
	switch kind {
	case bson.TypeNull, bson.TypeUndefined, bson.TypeMinKey, bson.TypeMaxKey:
		return 0, ""
	case bson.TypeBoolean:
		if len(b) > 0 && b[0] > 1 {
			return 0, "boolean is neither 0 nor 1"
		}
		return 1, ""
	case bson.TypeInt32:
		return 4, ""
	case bson.TypeDouble, bson.TypeInt64, bson.TypeDateTime, bson.TypeTimestamp:
		return 8, ""
	case bson.TypeObjectID:
		return 12, ""
	case bson.TypeDecimal128:
		return 16, ""
	case bson.TypeRegex:
		return regexSize(b)
	default:
		return prefixedSize(kind, b)
	}
}

// regexSize is valueSize for a regular expression: two strings that end with zero.
func regexSize(b []byte) (int64, string) {
	pattern := bytes.IndexByte(b, 0)
	if pattern < 0 {
		return 0, "regex without end"
	}
	options := bytes.IndexByte(b[pattern+1:], 0)
	if options < 0 {
		return 0, "regex without end"
	}
	return int64(pattern + options + 2), ""
}

// prefixedSize is valueSize for the types that begin with their length.
func prefixedSize(kind bson.Type, b []byte) (int64, string) {
	if len(b) < 4 {
		return 4, "" // reaches beyond
	}
	n := int64(Length(b))
	switch kind {
	case bson.TypeString, bson.TypeJavaScript, bson.TypeSymbol:
		return stringSize(kind, b)
	case bson.TypeDBPointer:
		size, reason := stringSize(kind, b)
		return size + 12, reason
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		if n < MinDocument {
			return 0, fmt.Sprintf("%s has the length %d", kind, n)
		}
		return n, ""
	case bson.TypeBinary:
		return binarySize(n, b)
	case bson.TypeCodeWithScope:
		code, reason := stringSize(kind, b[4:])
		if reason == "" && (n > int64(len(b)) || 4+code+MinDocument > n) {
			reason = fmt.Sprintf("%s has the length %d", kind, n)
		}
		return n, reason
	default:
		return 0, fmt.Sprintf("unknown type 0x%02x", byte(kind))
	}
}

// binarySize is valueSize for n bytes of binary data behind length and subtype.
// The old subtype has a length of its own inside.
func binarySize(n int64, b []byte) (int64, string) {
	switch {
	case n < 0:
		return 0, fmt.Sprintf("%s has the length %d", bson.TypeBinary, n)
	case len(b) <= 4 || b[4] != bson.TypeBinaryBinaryOld:
	case n < 4 || len(b) >= 9 && int64(Length(b[5:])) != n-4:
		return 0, fmt.Sprintf("old %s of length %d does not fit its content", bson.TypeBinary, n)
	}
	return 4 + 1 + n, ""
}

// stringSize is valueSize for a string: its length, which counts the zero at its end.
func stringSize(kind bson.Type, b []byte) (int64, string) {
	if len(b) < 4 {
		return 4, ""
	}
	n := int64(Length(b))
	switch {
	case n < 1:
		return 0, fmt.Sprintf("%s has the length %d", kind, n)
	case 4+n <= int64(len(b)) && b[4+n-1] != 0:
		return 0, fmt.Sprintf("%s does not end with a zero byte", kind)
	}
	return 4 + n, ""
}

// Length reads the length at the beginning of b.
func Length(b []byte) int32 { return int32(binary.LittleEndian.Uint32(b)) }

// Admit checks what a store asks of a well-formed document, so that no write
// fails half-way for what could have been told before: the size, an _id that may
// be one, and no operator where a field should be. It returns the _id, a zero
// value if there is none.
func Admit(doc bson.Raw) (id bson.RawValue, err error) {
	if len(doc) > MaxDocument {
		return id, TooLarge(int64(len(doc)))
	}
	for rest := elements(doc); len(rest) > 0; {
		e, after, f := cut(rest)
		if f != nil {
			return id, f
		}
		if len(e.name) > 0 && e.name[0] == '$' {
			return id, fmt.Errorf("field %q: a document's own fields may not begin with $", e.name)
		}
		if id.Type == 0 && string(e.name) == "_id" {
			switch e.kind {
			case bson.TypeArray, bson.TypeRegex, bson.TypeUndefined:
				return id, fmt.Errorf("_id may not be of type %s", e.kind)
			}
			id = bson.RawValue{Type: e.kind, Value: e.value}
		}
		rest = after
	}
	return id, nil
}

// TooLarge says that a document of n bytes exceeds MongoDB's limit.
func TooLarge(n int64) error {
	return fmt.Errorf("document of %d bytes: more than MongoDB's limit of %d", n, MaxDocument)
}
