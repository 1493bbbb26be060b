package filter

import (
	"bytes"
	"encoding/binary"
	"unsafe"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// element is one element of a BSON document or array; its slices point into the
// document.
type element struct {
	key   []byte
	typ   bson.Type
	value []byte
}

// raw returns the element's value.
func (e element) raw() bson.RawValue { return bson.RawValue{Type: e.typ, Value: e.value} }

// reader iterates over the elements of a document or array. Malformed input ends
// the iteration, so whatever follows the fault counts as missing.
type reader struct{ rest []byte }

// read starts reading the elements of an encoded document or array.
func read(doc []byte) reader { return reader{rest: body(doc)} }

// body returns the bytes between a document's length and its final zero, or nil
// if the document is malformed.
func body(doc []byte) []byte {
	if len(doc) < 5 {
		return nil
	}
	n := binary.LittleEndian.Uint32(doc)
	if n < 5 || uint64(n) > uint64(len(doc)) {
		return nil
	}
	return doc[4 : n-1]
}

// next returns the next element; false at the end or at a fault.
func (r *reader) next() (element, bool) {
	b := r.rest
	if len(b) < 2 {
		return element{}, false
	}
	end := bytes.IndexByte(b[1:], 0)
	if end < 0 {
		return element{}, false
	}
	value := b[end+2:]
	n := valueSize(bson.Type(b[0]), value)
	if n < 0 {
		return element{}, false
	}
	r.rest = value[n:]
	return element{key: b[1 : end+1], typ: bson.Type(b[0]), value: value[:n:n]}, true
}

// lookup returns the first element with the given name in a document's body.
func lookup(b []byte, name string) (element, bool) {
	for len(b) >= 2 {
		var end int
		found := len(b) > len(name)+1 && b[len(name)+1] == 0 && string(b[1:len(name)+1]) == name
		if found {
			end = len(name)
		} else if end = bytes.IndexByte(b[1:], 0); end < 0 {
			break
		}
		value := b[end+2:]
		n := valueSize(bson.Type(b[0]), value)
		if n < 0 {
			break
		}
		if found {
			return element{key: b[1 : end+1], typ: bson.Type(b[0]), value: value[:n:n]}, true
		}
		b = value[n:]
	}
	return element{}, false
}

// valueSize returns how many bytes of b a value of type t takes, or -1 if b is
// too short or the type unknown.
func valueSize(t bson.Type, b []byte) int {
	n := -1
	switch t {
	case bson.TypeDouble, bson.TypeDateTime, bson.TypeTimestamp, bson.TypeInt64:
		n = 8
	case bson.TypeInt32:
		n = 4
	case bson.TypeString, bson.TypeJavaScript, bson.TypeSymbol:
		n = prefixed(b, 4, 1)
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		n = prefixed(b, 0, 5)
	case bson.TypeBoolean:
		n = 1
	case bson.TypeNull, bson.TypeUndefined, bson.TypeMinKey, bson.TypeMaxKey:
		n = 0
	case bson.TypeObjectID:
		n = 12
	case bson.TypeBinary:
		n = prefixed(b, 5, 0)
	case bson.TypeDecimal128:
		n = 16
	case bson.TypeRegex:
		if i := bytes.IndexByte(b, 0); i >= 0 {
			if j := bytes.IndexByte(b[i+1:], 0); j >= 0 {
				n = i + j + 2
			}
		}
	case bson.TypeDBPointer:
		n = prefixed(b, 16, 1)
	case bson.TypeCodeWithScope:
		n = prefixed(b, 0, 14)
	}
	if n > len(b) {
		return -1
	}
	return n
}

// prefixed returns extra plus the length that b starts with, or -1 if the length
// is missing, below least, or beyond any document.
func prefixed(b []byte, extra int, least int32) int {
	if len(b) < 4 {
		return -1
	}
	n := int32(binary.LittleEndian.Uint32(b))
	if n < least {
		return -1
	}
	return int(n) + extra
}

// text returns the content of a string, symbol or code value without copying; it
// is valid as long as the value is. A malformed value is empty.
func text(v bson.RawValue) string {
	b := textBytes(v.Value)
	if len(b) == 0 {
		return ""
	}
	return unsafe.String(&b[0], len(b)) // matching never writes to documents
}

// textBytes returns the content of a length-prefixed, zero-terminated string.
func textBytes(b []byte) []byte {
	n := prefixed(b, 4, 1)
	if n < 0 || n > len(b) {
		return nil
	}
	return b[4 : n-1]
}

// regexParts returns pattern and options of a regular expression value.
func regexParts(b []byte) (pattern, options []byte) {
	pattern, rest, _ := bytes.Cut(b, []byte{0})
	options, _, _ = bytes.Cut(rest, []byte{0})
	return pattern, options
}

// isText reports whether a value holds text that regular expressions apply to.
func isText(t bson.Type) bool { return t == bson.TypeString || t == bson.TypeSymbol }
