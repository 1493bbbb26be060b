package ejson

import (
	"encoding/base64"
	"encoding/hex"
	"math"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// Append writes a value as relaxed Extended JSON v2. It writes null for a malformed value. raw.Size
// checks the outer value only; values inside are checked while they are written.
func Append(dst []byte, v bson.RawValue) []byte {
	n := raw.Size(v.Type, v.Value)
	if n < 0 {
		return append(dst, "null"...)
	}
	return appendValue(dst, v.Type, v.Value[:n], 1)
}

// AppendDocument writes a document as Append does. A malformed value becomes null and ends its
// document. What stood before the malformed value stays readable.
func AppendDocument(dst []byte, doc bson.Raw) []byte {
	return Append(dst, bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: doc})
}

// appendValue writes the value b of type t, whose size raw.Size has checked. depth is that of v: 1
// for the outermost.
func appendValue(dst []byte, t bson.Type, b []byte, depth int) []byte {
	switch t {
	case bson.TypeString:
		return AppendString(dst, textOf(b))
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		return appendElements(dst, t, b, depth)
	case bson.TypeInt32, bson.TypeInt64:
		return strconv.AppendInt(dst, raw.Int(bson.RawValue{Type: t, Value: b}), 10)
	case bson.TypeDouble:
		return appendNumber(dst, math.Float64frombits(raw.Uint64(b)))
	case bson.TypeBoolean:
		return strconv.AppendBool(dst, b[0] != 0)
	case bson.TypeObjectID:
		return appendObjectID(dst, b)
	case bson.TypeDateTime:
		return appendDate(dst, int64(raw.Uint64(b)))
	case bson.TypeDecimal128:
		return append(raw.AppendDecimal(append(dst, `{"$numberDecimal":"`...), b), `"}`...)
	case bson.TypeBinary:
		return appendBinary(dst, b)
	case bson.TypeRegex:
		pattern, options := raw.RegexParts(b)
		dst = AppendString(append(dst, `{"$regularExpression":{"pattern":`...), pattern)
		return append(AppendString(append(dst, `,"options":`...), options), `}}`...)
	case bson.TypeTimestamp:
		seconds, ordinal := raw.Uint64(b)>>32, raw.Uint64(b)&math.MaxUint32
		dst = strconv.AppendUint(append(dst, `{"$timestamp":{"t":`...), seconds, 10)
		return append(strconv.AppendUint(append(dst, `,"i":`...), ordinal, 10), `}}`...)
	case bson.TypeDBPointer:
		id := len(b) - len(bson.ObjectID{})
		dst = AppendString(append(dst, `{"$dbPointer":{"$ref":`...), b[4:id-1])
		return append(appendObjectID(append(dst, `,"$id":`...), b[id:]), `}}`...)
	case bson.TypeSymbol:
		return append(AppendString(append(dst, `{"$symbol":`...), textOf(b)), '}')
	case bson.TypeJavaScript:
		return append(AppendString(append(dst, `{"$code":`...), textOf(b)), '}')
	case bson.TypeCodeWithScope:
		code, scope := raw.ScopedParts(b)
		dst = append(AppendString(append(dst, `{"$code":`...), code), `,"$scope":`...)
		return append(appendElements(dst, bson.TypeEmbeddedDocument, scope, depth+1), '}')
	case bson.TypeUndefined:
		return append(dst, `{"$undefined":true}`...)
	case bson.TypeMinKey:
		return append(dst, `{"$minKey":1}`...)
	case bson.TypeMaxKey:
		return append(dst, `{"$maxKey":1}`...)
	}
	return append(dst, "null"...)
}

// textOf returns the text of a well-formed string, symbol or code. BSON puts four bytes of length
// before it and a zero byte after it.
func textOf(b []byte) []byte { return b[4 : len(b)-1] }

// appendElements writes a document or an array. Below raw.MaxDepth it writes null, so that the stack stays small:
// MongoDB stores no such depth, so it occurs only in malformed or hostile bytes.
func appendElements(dst []byte, t bson.Type, b []byte, depth int) []byte {
	if depth > raw.MaxDepth {
		return append(dst, "null"...)
	}
	opening, closing := byte('{'), byte('}')
	if t == bson.TypeArray {
		opening, closing = '[', ']'
	}
	dst = append(dst, opening)
	r := raw.Read(b)
	for first := true; ; first = false {
		e, ok := r.Next()
		// Without a key the document has ended, properly or not.
		if !ok && e.Key == nil {
			return append(dst, closing)
		}
		if !first {
			dst = append(dst, ',')
		}
		if closing == '}' {
			dst = append(AppendString(dst, e.Key), ':')
		}
		if !ok { // the value is malformed, so its end is unknown
			return append(dst, "null"+string(closing)...)
		}
		dst = appendValue(dst, e.Type, e.Data, depth+1)
	}
}

// appendNumber writes a double with a point or an exponent, so that readers take it for a double.
//
//	2 → 2.0, 0.1 → 0.1, 1e30 → 1e+30
//
// Between 1e-6 and 1e21 it writes no exponent, as JavaScript does.
func appendNumber(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, `{"$numberDouble":"NaN"}`...)
	case math.IsInf(f, 1):
		return append(dst, `{"$numberDouble":"Infinity"}`...)
	case math.IsInf(f, -1):
		return append(dst, `{"$numberDouble":"-Infinity"}`...)
	}
	if size := math.Abs(f); size != 0 && (size < 1e-6 || size >= 1e21) {
		return strconv.AppendFloat(dst, f, 'e', -1, 64)
	}
	dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	if f == math.Trunc(f) {
		dst = append(dst, ".0"...)
	}
	return dst
}

// appendObjectID writes an id whose length is known to be 12.
func appendObjectID(dst, id []byte) []byte {
	return append(hex.AppendEncode(append(dst, `{"$oid":"`...), id), `"}`...)
}

// appendBinary leaves out the second length with which data of the old subtype begin. The driver
// and MongoDB's tools write it without that length, too.
func appendBinary(dst, b []byte) []byte {
	data := b[5:]
	if b[4] == bson.TypeBinaryBinaryOld && len(data) >= 4 && int(raw.Length(data)) == len(data)-4 {
		data = data[4:]
	}
	dst = base64.StdEncoding.AppendEncode(append(dst, `{"$binary":{"base64":"`...), data)
	dst = hex.AppendEncode(append(dst, `","subType":"`...), b[4:5])
	return append(dst, `"}}`...)
}
