// Package idkey turns a document's _id into bytes that compare like the ids
// themselves do in MongoDB: by type class first (null, numbers, strings,
// documents, …), within a class by value. Two ids that MongoDB takes for the same
// (1, NumberLong(1) and 1.0; a string and a symbol) have the same key.
//
// A key is prefix-free: no key is the beginning of another, so that more bytes
// (a generation) may follow one without harming order or meaning. A key cannot be
// turned back into the id; a caller that needs the id keeps it beside the key.
package idkey

import (
	"encoding/binary"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// The type classes, in MongoDB's comparison order. None is zero: zero ends a
// document or an array.
const (
	classMin byte = iota + 1
	classUndefined
	classNull
	classNumber
	classString
	classDocument
	classArray
	classBinary
	classObjectID
	classBoolean
	classDate
	classTimestamp
	classRegex
	classPointer
	classCode
	classScopedCode
	classMax
)

// endOfList ends the elements of a document or an array.
const endOfList = 0x00

// classes maps a BSON type to its class.
var classes = map[bson.Type]byte{
	bson.TypeMinKey: classMin, bson.TypeUndefined: classUndefined, bson.TypeNull: classNull,
	bson.TypeDouble: classNumber, bson.TypeInt32: classNumber, bson.TypeInt64: classNumber, bson.TypeDecimal128: classNumber,
	bson.TypeString: classString, bson.TypeSymbol: classString,
	bson.TypeEmbeddedDocument: classDocument, bson.TypeArray: classArray, bson.TypeBinary: classBinary,
	bson.TypeObjectID: classObjectID, bson.TypeBoolean: classBoolean, bson.TypeDateTime: classDate,
	bson.TypeTimestamp: classTimestamp, bson.TypeRegex: classRegex, bson.TypeDBPointer: classPointer,
	bson.TypeJavaScript: classCode, bson.TypeCodeWithScope: classScopedCode, bson.TypeMaxKey: classMax,
}

// Of returns the key of an id. The error tells of a value that is not valid BSON.
func Of(id bson.RawValue) ([]byte, error) { return Append(make([]byte, 0, 1+len(id.Value)+4), id) }

// Append appends the key of an id to dst, see Of.
func Append(dst []byte, id bson.RawValue) ([]byte, error) {
	class, ok := classes[id.Type]
	if !ok {
		return nil, fmt.Errorf("_id of unknown type 0x%02x", byte(id.Type))
	}
	if err := id.Validate(); err != nil {
		return nil, fmt.Errorf("_id of type %s: %w", id.Type, err)
	}
	return appendPayload(append(dst, class), id)
}

// errMalformed tells of a value that is shorter than its type wants it.
var errMalformed = errors.New("malformed value")

// appendPayload appends what follows the class byte of a value. It takes nothing
// for granted: the driver's Validate does not look into nested values.
func appendPayload(dst []byte, v bson.RawValue) ([]byte, error) {
	switch v.Type {
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDouble, bson.TypeDecimal128:
		return appendNumber(dst, v)
	case bson.TypeString, bson.TypeSymbol, bson.TypeJavaScript:
		return appendString(dst, v.Value)
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		return appendElements(dst, v.Value, v.Type == bson.TypeEmbeddedDocument)
	case bson.TypeCodeWithScope:
		return appendScopedCode(dst, v.Value)
	case bson.TypeBinary:
		if len(v.Value) < 5 {
			return nil, errMalformed
		}
		dst = binary.BigEndian.AppendUint32(dst, binary.LittleEndian.Uint32(v.Value))
		return append(dst, v.Value[4:]...), nil
	case bson.TypeDateTime:
		millis, ok := v.DateTimeOK()
		return binary.BigEndian.AppendUint64(dst, uint64(millis)^(1<<63)), malformedUnless(ok)
	case bson.TypeTimestamp:
		seconds, ordinal, ok := v.TimestampOK()
		dst = binary.BigEndian.AppendUint32(dst, seconds)
		return binary.BigEndian.AppendUint32(dst, ordinal), malformedUnless(ok)
	case bson.TypeDBPointer:
		namespace, oid, ok := v.DBPointerOK()
		return append(appendText(dst, namespace), oid[:]...), malformedUnless(ok)
	default: // of fixed length and in order as they are (ObjectID, bool), ended by zeros (regex), or empty
		return append(dst, v.Value...), nil
	}
}

// malformedUnless returns errMalformed unless ok.
func malformedUnless(ok bool) error {
	if !ok {
		return errMalformed
	}
	return nil
}

// appendString appends a BSON string: its length, its bytes and a zero.
func appendString(dst, data []byte) ([]byte, error) {
	if len(data) < 5 || binary.LittleEndian.Uint32(data) != uint32(len(data)-4) || data[len(data)-1] != 0 {
		return nil, errMalformed
	}
	return appendText(dst, data[4:len(data)-1]), nil
}

// appendScopedCode appends code with scope: the whole length, a string and a document.
func appendScopedCode(dst, data []byte) ([]byte, error) {
	if len(data) < 8 {
		return nil, errMalformed
	}
	end := 8 + uint64(binary.LittleEndian.Uint32(data[4:]))
	if end > uint64(len(data)) {
		return nil, errMalformed
	}
	dst, err := appendString(dst, data[4:end])
	if err != nil {
		return nil, err
	}
	return appendElements(dst, data[end:], true)
}

// appendText appends a string so that its end sorts before any continuation: a
// zero byte inside becomes 00 FF, the end is 00 01.
func appendText[T string | []byte](dst []byte, s T) []byte {
	for i := range len(s) {
		if dst = append(dst, s[i]); s[i] == 0 {
			dst = append(dst, 0xFF)
		}
	}
	return append(dst, 0x00, 0x01)
}

// appendElements appends class, name (for documents) and payload of every
// element: the order in which MongoDB compares them.
func appendElements(dst []byte, doc bson.Raw, named bool) ([]byte, error) {
	elements, err := doc.Elements()
	if err != nil {
		return nil, err
	}
	for _, e := range elements {
		v := e.Value()
		class, ok := classes[v.Type]
		if !ok {
			return nil, fmt.Errorf("_id with a value of unknown type 0x%02x", byte(v.Type))
		}
		dst = append(dst, class)
		if named {
			dst = appendText(dst, e.Key())
		}
		if dst, err = appendPayload(dst, v); err != nil {
			return nil, err
		}
	}
	return append(dst, endOfList), nil
}
