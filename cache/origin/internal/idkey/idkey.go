// Package idkey turns a document's _id into bytes that compare like the ids do in MongoDB: by type class (null,
// numbers, strings, documents, …), then by value. Ids that MongoDB considers equal (1 and 1.0) have the same key.
//
// No key is a prefix of another, so that more bytes (a generation) may follow it. The id cannot be computed from it.
//
// Stores keep these bytes: the key of a value must never change.
package idkey

import (
	"encoding/binary"
	"fmt"
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// endOfList ends the elements of a document or an array. No class is zero.
const endOfList = 0x00

// Of returns the key of an id, or an error if the value is malformed BSON.
func Of(id bson.RawValue) ([]byte, error) { return Append(make([]byte, 0, 1+len(id.Value)+4), id) }

// Append appends the key of an id to dst, see Of.
func Append(dst []byte, id bson.RawValue) ([]byte, error) {
	if err := raw.CheckValue(id); err != nil {
		return nil, fmt.Errorf("_id of type %s: %w", id.Type, err)
	}
	return appendPayload(append(dst, class(id.Type)), id), nil
}

// class returns the first byte of a value's key, which orders the types.
func class(t bson.Type) byte { return byte(raw.BracketOf(t)) }

// appendPayload appends the bytes of a value that follow its class.
func appendPayload(dst []byte, v bson.RawValue) []byte {
	switch v.Type {
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDouble, bson.TypeDecimal128:
		return appendNumber(dst, raw.NumberOf(v))
	case bson.TypeString, bson.TypeSymbol, bson.TypeJavaScript:
		return appendText(dst, raw.Text(v))
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		return appendElements(dst, v)
	case bson.TypeCodeWithScope:
		code, scope := raw.ScopedParts(v.Value)
		return appendElements(appendText(dst, string(code)),
			bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: scope})
	case bson.TypeBinary: // shorter values come first
		dst = binary.BigEndian.AppendUint32(dst, uint32(raw.Length(v.Value)))
		return append(dst, v.Value[4:]...)
	case bson.TypeDateTime:
		return binary.BigEndian.AppendUint64(dst, raw.Uint64(v.Value)^(1<<63))
	case bson.TypeTimestamp:
		return binary.BigEndian.AppendUint64(dst, raw.Uint64(v.Value))
	case bson.TypeDBPointer:
		end := len(v.Value) - len(bson.ObjectID{})
		return append(appendText(dst, string(v.Value[4:end-1])), v.Value[end:]...)
	}
	// These values are of fixed length and already in order (ObjectID, bool), end with zeros (regex), or are empty.
	return append(dst, v.Value...)
}

// appendText appends a string so that its end sorts before any continuation: a
// zero byte inside becomes 00 FF, the end is 00 01.
func appendText(dst []byte, s string) []byte {
	for i := range len(s) {
		if dst = append(dst, s[i]); s[i] == 0 {
			dst = append(dst, 0xFF)
		}
	}
	return append(dst, 0x00, 0x01)
}

// appendElements appends class, name (for documents) and payload of every element of a document
// or an array, in the order in which MongoDB compares them.
func appendElements(dst []byte, v bson.RawValue) []byte {
	for e := range raw.All(v.Value) {
		dst = append(dst, class(e.Type))
		if v.Type == bson.TypeEmbeddedDocument {
			dst = appendText(dst, string(e.Key))
		}
		dst = appendPayload(dst, e.Value())
	}
	return append(dst, endOfList)
}

// appendNumber appends a number's kind and, if it has any, its biased exponent and its digits, so that the bytes
// compare like the numbers. For a negative number it inverts all bytes after the kind.
func appendNumber(dst []byte, n raw.Number) []byte {
	dst = append(dst, byte(n.Kind))
	if len(n.Digits) == 0 {
		return dst
	}
	start := len(dst)
	dst = binary.BigEndian.AppendUint16(dst, uint16(n.Exp+math.MaxInt16))
	for _, c := range n.Digits {
		dst = append(dst, c-'0'+1)
	}
	dst = append(dst, 0)
	if n.Kind == raw.NumberNegative {
		for i := start; i < len(dst); i++ {
			dst[i] = ^dst[i]
		}
	}
	return dst
}
