package ejson

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Each function here appends the value that one kind of wrapper stands for, given
// what stands under the wrapper's key, and returns the type of it.

const (
	subtypeOld  = 0x02 // carries a second length inside
	subtypeUUID = 0x04

	// maxDecimalText bounds what is given to the conversion of decimals, whose time
	// grows with the square of it. A decimal has 34 digits.
	maxDecimalText = 128
)

func unwrapObjectID(dst []byte, v value) ([]byte, bson.Type, error) {
	if s, ok := stringContent(v); ok && len(s) == 24 {
		if out, err := hex.AppendDecode(dst, s); err == nil {
			return out, bson.TypeObjectID, nil
		}
	}
	return dst, 0, errors.New("wants a string of 24 hexadecimal digits")
}

func unwrapInt32(dst []byte, v value) ([]byte, bson.Type, error) {
	if s, ok := stringContent(v); ok {
		if i, err := strconv.ParseInt(string(s), 10, 32); err == nil {
			return binary.LittleEndian.AppendUint32(dst, uint32(i)), bson.TypeInt32, nil
		}
	}
	return dst, 0, errors.New("wants a string with a 32-bit integer")
}

func unwrapInt64(dst []byte, v value) ([]byte, bson.Type, error) {
	if s, ok := stringContent(v); ok {
		if i, err := strconv.ParseInt(string(s), 10, 64); err == nil {
			return binary.LittleEndian.AppendUint64(dst, uint64(i)), bson.TypeInt64, nil
		}
	}
	return dst, 0, errors.New("wants a string with a 64-bit integer")
}

func unwrapDouble(dst []byte, v value) ([]byte, bson.Type, error) {
	if s, ok := stringContent(v); ok {
		if f, ok := parseDouble(s); ok {
			return putDouble(dst, f), bson.TypeDouble, nil
		}
	}
	return dst, 0, errors.New("wants a string with a number, NaN, Infinity or -Infinity")
}

// parseDouble reads a decimal number or one of the three names of Extended JSON,
// and none of the other spellings (hexadecimal, "inf") that strconv knows.
func parseDouble(s []byte) (float64, bool) {
	switch string(s) {
	case "NaN":
		return math.NaN(), true
	case "Infinity":
		return math.Inf(1), true
	case "-Infinity":
		return math.Inf(-1), true
	}
	for _, c := range s {
		switch c {
		case '+', '-', '.', 'e', 'E':
		default:
			if c < '0' || c > '9' {
				return 0, false
			}
		}
	}
	f, err := strconv.ParseFloat(string(s), 64)
	return f, err == nil
}

func unwrapDecimal(dst []byte, v value) ([]byte, bson.Type, error) {
	if s, ok := stringContent(v); ok && len(s) <= maxDecimalText {
		if d, err := bson.ParseDecimal128(string(s)); err == nil {
			high, low := d.GetBytes()
			dst = binary.LittleEndian.AppendUint64(dst, low)
			return binary.LittleEndian.AppendUint64(dst, high), bson.TypeDecimal128, nil
		}
	}
	return dst, 0, errors.New("wants a string with a number of at most 34 digits")
}

func unwrapDate(dst []byte, v value) ([]byte, bson.Type, error) {
	var ms int64
	ok := true
	switch v.t {
	case bson.TypeInt32:
		ms = int64(int32(binary.LittleEndian.Uint32(v.b)))
	case bson.TypeInt64:
		ms = int64(binary.LittleEndian.Uint64(v.b))
	case bson.TypeString:
		s, _ := stringContent(v)
		ms, ok = parseDate(s)
	default:
		ok = false
	}
	if !ok {
		return dst, 0, errors.New("wants an ISO 8601 date with a time zone, or milliseconds since 1970")
	}
	return binary.LittleEndian.AppendUint64(dst, uint64(ms)), bson.TypeDateTime, nil
}

func unwrapBinary(dst []byte, v value) ([]byte, bson.Type, error) {
	data, subtype, err := members(v, "base64", "subType")
	if err != nil {
		return dst, 0, err
	}
	return putBinary(dst, data, subtype)
}

// putBinary appends a binary value from its data in base64 and its subtype as
// one or two hexadecimal digits.
func putBinary(dst []byte, data, subtype value) ([]byte, bson.Type, error) {
	s, ok := stringContent(subtype)
	kind, err := strconv.ParseUint(string(s), 16, 8)
	if !ok || err != nil || len(s) > 2 {
		return dst, 0, errors.New("wants one or two hexadecimal digits as subtype")
	}
	s, ok = stringContent(data)
	if !ok {
		return dst, 0, errors.New("wants a string in base64")
	}
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0, byte(kind))
	if kind == subtypeOld {
		dst = append(dst, 0, 0, 0, 0)
	}
	inner := len(dst)
	if dst, err = base64.StdEncoding.AppendDecode(dst, s); err != nil {
		return dst, 0, errors.New("wants a string in base64")
	}
	if kind == subtypeOld {
		binary.LittleEndian.PutUint32(dst[inner-4:], uint32(len(dst)-inner))
	}
	binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start-5))
	return dst, bson.TypeBinary, nil
}

func unwrapUUID(dst []byte, v value) ([]byte, bson.Type, error) {
	s, ok := stringContent(v)
	if ok && len(s) == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-' {
		digits := slices.Concat(s[:8], s[9:13], s[14:18], s[19:23], s[24:])
		out, err := hex.AppendDecode(append(dst, 16, 0, 0, 0, subtypeUUID), digits)
		if err == nil {
			return out, bson.TypeBinary, nil
		}
	}
	return dst, 0, errors.New("wants a UUID of 8-4-4-4-12 hexadecimal digits")
}

func unwrapRegex(dst []byte, v value) ([]byte, bson.Type, error) {
	pattern, options, err := members(v, "pattern", "options")
	if err != nil {
		return dst, 0, err
	}
	return putRegex(dst, pattern, options)
}

// putRegex appends a regular expression; options may be the zero value.
func putRegex(dst []byte, pattern, options value) ([]byte, bson.Type, error) {
	expr, ok1 := stringContent(pattern)
	flags, ok2 := stringContent(options)
	if !ok1 || !ok2 && options.t != 0 {
		return dst, 0, errors.New("wants strings as pattern and options")
	}
	if slices.Contains(expr, 0) || slices.Contains(flags, 0) {
		return dst, 0, errors.New("must not contain \\u0000")
	}
	dst = append(append(dst, expr...), 0)
	start := len(dst)
	dst = append(dst, flags...)
	slices.Sort(dst[start:])
	return append(dst, 0), bson.TypeRegex, nil
}

func unwrapTimestamp(dst []byte, v value) ([]byte, bson.Type, error) {
	t, i, err := members(v, "t", "i")
	if err != nil {
		return dst, 0, err
	}
	seconds, ok1 := unsigned32(t)
	ordinal, ok2 := unsigned32(i)
	if !ok1 || !ok2 {
		return dst, 0, errors.New("wants t and i from 0 to 4294967295")
	}
	dst = binary.LittleEndian.AppendUint32(dst, ordinal)
	return binary.LittleEndian.AppendUint32(dst, seconds), bson.TypeTimestamp, nil
}

// unsigned32 is the value of an integer that fits.
func unsigned32(v value) (uint32, bool) {
	switch v.t {
	case bson.TypeInt32:
		n := binary.LittleEndian.Uint32(v.b)
		return n, n <= math.MaxInt32
	case bson.TypeInt64:
		n := binary.LittleEndian.Uint64(v.b)
		return uint32(n), n <= math.MaxUint32
	}
	return 0, false
}

func unwrapDBPointer(dst []byte, v value) ([]byte, bson.Type, error) {
	ref, id, err := members(v, "$ref", "$id")
	if err != nil {
		return dst, 0, err
	}
	if ref.t != bson.TypeString || id.t != bson.TypeObjectID {
		return dst, 0, errors.New("wants a string as $ref and an $oid as $id")
	}
	return append(append(dst, ref.b...), id.b...), bson.TypeDBPointer, nil
}

// unwrapString takes over a string as the like-built type t.
func unwrapString(dst []byte, v value, t bson.Type) ([]byte, bson.Type, error) {
	if v.t != bson.TypeString {
		return dst, 0, errors.New("wants a string")
	}
	return append(dst, v.b...), t, nil
}

func unwrapCode(dst []byte, code, scope value) ([]byte, bson.Type, error) {
	if code.t != bson.TypeString || scope.t != bson.TypeEmbeddedDocument {
		return dst, 0, errors.New("wants a string, and an object as $scope")
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(4+len(code.b)+len(scope.b)))
	return append(append(dst, code.b...), scope.b...), bson.TypeCodeWithScope, nil
}

func unwrapKey(dst []byte, v value, t bson.Type) ([]byte, bson.Type, error) {
	if n, ok := unsigned32(v); !ok || n != 1 {
		return dst, 0, errors.New("wants the number 1")
	}
	return dst, t, nil
}

func unwrapUndefined(dst []byte, v value) ([]byte, bson.Type, error) {
	if v.t != bson.TypeBoolean || v.b[0] != 1 {
		return dst, 0, errors.New("wants true")
	}
	return dst, bson.TypeUndefined, nil
}
