package ejson

import (
	"bytes"
	"encoding/binary"
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// value is a BSON value: its type and exactly its bytes.
type value struct {
	t bson.Type
	b []byte
}

// element is a key of a document and its value.
type element struct {
	key []byte
	value
}

// body is what lies between the length of the document that b starts with and the
// NUL that ends it; !ok if there is no whole document.
func body(b []byte) (elements []byte, ok bool) {
	n := documentSize(b)
	if n < 0 {
		return nil, false
	}
	return b[4 : n-1], true
}

// next splits the first element off a document's body; !ok at the end. A value that
// cannot be read is given as null, and nothing follows it.
func next(elements []byte) (e element, rest []byte, ok bool) {
	if len(elements) == 0 {
		return element{}, nil, false
	}
	end := bytes.IndexByte(elements[1:], 0) + 1
	if end == 0 {
		return element{}, nil, false
	}
	e.key = elements[1:end]
	rest = elements[end+1:]
	t := bson.Type(elements[0])
	n := valueSize(t, rest)
	if n < 0 {
		e.t = bson.TypeNull
		return e, nil, true
	}
	e.value = value{t, rest[:n:n]}
	return e, rest[n:], true
}

// valueSize is the number of bytes of the value of type t that b starts with; -1 if
// it is cut off, its inner lengths contradict each other, or the type is unknown.
func valueSize(t bson.Type, b []byte) int {
	switch t {
	case bson.TypeNull, bson.TypeUndefined, bson.TypeMinKey, bson.TypeMaxKey:
		return 0
	case bson.TypeBoolean:
		return fixedSize(b, 1)
	case bson.TypeInt32:
		return fixedSize(b, 4)
	case bson.TypeDouble, bson.TypeInt64, bson.TypeDateTime, bson.TypeTimestamp:
		return fixedSize(b, 8)
	case bson.TypeObjectID:
		return fixedSize(b, 12)
	case bson.TypeDecimal128:
		return fixedSize(b, 16)
	case bson.TypeString, bson.TypeSymbol, bson.TypeJavaScript:
		return stringSize(b)
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		return documentSize(b)
	case bson.TypeBinary:
		return fixedSize(b, 5+length(b))
	case bson.TypeRegex:
		return regexSize(b)
	case bson.TypeDBPointer:
		if n := stringSize(b); n > 0 {
			return fixedSize(b, n+12)
		}
	case bson.TypeCodeWithScope:
		return codeWithScopeSize(b)
	}
	return -1
}

// fixedSize is n if b has as many bytes.
func fixedSize(b []byte, n int) int {
	if len(b) < n {
		return -1
	}
	return n
}

// length is the number that b starts with; one that no value can have is given as
// larger than any buffer.
func length(b []byte) int {
	if len(b) < 4 {
		return math.MaxInt32
	}
	n := int32(binary.LittleEndian.Uint32(b))
	if n < 0 {
		return math.MaxInt32
	}
	return int(n)
}

func stringSize(b []byte) int {
	n := 4 + length(b)
	if n < 5 || n > len(b) || b[n-1] != 0 {
		return -1
	}
	return n
}

func documentSize(b []byte) int {
	n := length(b)
	if n < 5 || n > len(b) || b[n-1] != 0 {
		return -1
	}
	return n
}

func regexSize(b []byte) int {
	pattern := bytes.IndexByte(b, 0)
	if pattern < 0 {
		return -1
	}
	options := bytes.IndexByte(b[pattern+1:], 0)
	if options < 0 {
		return -1
	}
	return pattern + 1 + options + 1
}

func codeWithScopeSize(b []byte) int {
	n := length(b)
	if n < 4 || n > len(b) {
		return -1
	}
	code := stringSize(b[4:n])
	if code < 0 || documentSize(b[4+code:n]) != n-4-code {
		return -1
	}
	return n
}
