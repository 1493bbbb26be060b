package ejson

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// maxWriteDepth is how deep documents are written; what lies deeper becomes null.
// MongoDB stores less than that, so only broken or hostile bytes come here, and the
// stack stays small.
const maxWriteDepth = 200

// Append writes a value as relaxed Extended JSON v2; one that cannot be read is
// written as null.
func Append(dst []byte, v bson.RawValue) []byte {
	n := valueSize(v.Type, v.Value)
	if n < 0 {
		return append(dst, "null"...)
	}
	return appendValue(dst, value{v.Type, v.Value[:n]}, 1)
}

// AppendDocument writes a document as relaxed Extended JSON v2. A document without
// a right length is written as null, a value that cannot be read as null and as the
// last of its document.
func AppendDocument(dst []byte, doc bson.Raw) []byte {
	return appendDocument(dst, doc, 1)
}

func appendValue(dst []byte, v value, depth int) []byte {
	switch v.t {
	case bson.TypeString:
		return appendQuoted(dst, v.b[4:len(v.b)-1])
	case bson.TypeEmbeddedDocument:
		return appendDocument(dst, v.b, depth)
	case bson.TypeArray:
		return appendArray(dst, v.b, depth)
	case bson.TypeInt32:
		return strconv.AppendInt(dst, int64(int32(binary.LittleEndian.Uint32(v.b))), 10)
	case bson.TypeInt64:
		return strconv.AppendInt(dst, int64(binary.LittleEndian.Uint64(v.b)), 10)
	case bson.TypeDouble:
		return appendNumber(dst, math.Float64frombits(binary.LittleEndian.Uint64(v.b)))
	case bson.TypeBoolean:
		return strconv.AppendBool(dst, v.b[0] != 0)
	case bson.TypeObjectID:
		return appendObjectID(dst, v.b)
	case bson.TypeDateTime:
		return appendDate(dst, v.b)
	case bson.TypeDecimal128:
		return appendDecimal(dst, v.b)
	case bson.TypeBinary:
		return appendBinary(dst, v.b)
	case bson.TypeRegex:
		return appendRegex(dst, v.b)
	case bson.TypeTimestamp:
		return appendTimestamp(dst, v.b)
	case bson.TypeDBPointer:
		return appendDBPointer(dst, v.b)
	case bson.TypeSymbol:
		return append(appendQuoted(append(dst, `{"$symbol":`...), v.b[4:len(v.b)-1]), '}')
	case bson.TypeJavaScript:
		return append(appendQuoted(append(dst, `{"$code":`...), v.b[4:len(v.b)-1]), '}')
	case bson.TypeCodeWithScope:
		return appendCode(dst, v.b, depth)
	case bson.TypeUndefined:
		return append(dst, `{"$undefined":true}`...)
	case bson.TypeMinKey:
		return append(dst, `{"$minKey":1}`...)
	case bson.TypeMaxKey:
		return append(dst, `{"$maxKey":1}`...)
	}
	return append(dst, "null"...)
}

func appendDocument(dst, doc []byte, depth int) []byte {
	elements, ok := body(doc)
	if !ok || depth > maxWriteDepth {
		return append(dst, "null"...)
	}
	dst = append(dst, '{')
	for first := true; ; first = false {
		e, rest, ok := next(elements)
		if !ok {
			return append(dst, '}')
		}
		if !first {
			dst = append(dst, ',')
		}
		dst = append(appendQuoted(dst, e.key), ':')
		dst = appendValue(dst, e.value, depth+1)
		elements = rest
	}
}

func appendArray(dst, array []byte, depth int) []byte {
	elements, ok := body(array)
	if !ok || depth > maxWriteDepth {
		return append(dst, "null"...)
	}
	dst = append(dst, '[')
	for first := true; ; first = false {
		e, rest, ok := next(elements)
		if !ok {
			return append(dst, ']')
		}
		if !first {
			dst = append(dst, ',')
		}
		dst = appendValue(dst, e.value, depth+1)
		elements = rest
	}
}

// appendNumber writes a double so that it is read as one again: with a point or an
// exponent.
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

func appendObjectID(dst, id []byte) []byte {
	return append(hex.AppendEncode(append(dst, `{"$oid":"`...), id), `"}`...)
}

func appendBinary(dst, b []byte) []byte {
	subtype, data := b[4], b[5:]
	if subtype == subtypeOld && length(data) == len(data)-4 {
		data = data[4:]
	}
	dst = base64.StdEncoding.AppendEncode(append(dst, `{"$binary":{"base64":"`...), data)
	dst = hex.AppendEncode(append(dst, `","subType":"`...), b[4:5])
	return append(dst, `"}}`...)
}

func appendRegex(dst, b []byte) []byte {
	end := bytes.IndexByte(b, 0)
	dst = appendQuoted(append(dst, `{"$regularExpression":{"pattern":`...), b[:end])
	dst = appendQuoted(append(dst, `,"options":`...), b[end+1:len(b)-1])
	return append(dst, `}}`...)
}

func appendTimestamp(dst, b []byte) []byte {
	ordinal, seconds := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
	dst = strconv.AppendUint(append(dst, `{"$timestamp":{"t":`...), uint64(seconds), 10)
	dst = strconv.AppendUint(append(dst, `,"i":`...), uint64(ordinal), 10)
	return append(dst, `}}`...)
}

func appendDBPointer(dst, b []byte) []byte {
	id := len(b) - 12
	dst = appendQuoted(append(dst, `{"$dbPointer":{"$ref":`...), b[4:id-1])
	dst = appendObjectID(append(dst, `,"$id":`...), b[id:])
	return append(dst, `}}`...)
}

func appendCode(dst, b []byte, depth int) []byte {
	scope := 4 + stringSize(b[4:])
	dst = appendQuoted(append(dst, `{"$code":`...), b[8:scope-1])
	dst = appendDocument(append(dst, `,"$scope":`...), b[scope:], depth+1)
	return append(dst, '}')
}
