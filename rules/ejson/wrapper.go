package ejson

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"vitrine/rules/raw"
)

// A writer appends the value of a wrapper, made from the values under its keys; w is the zero value
// if the wrapper has only one key. The error says which values are expected. dst grows by the value
// alone, without type and key.
type writer func(dst []byte, v, w bson.RawValue) ([]byte, error)

// wrappers are the objects that stand for a value, by their key, or by their two keys with a zero
// byte in between. Legacy forms of mongoexport stand beside those of version 2.
var wrappers = map[string]struct {
	t     bson.Type
	write writer
}{
	"$oid":        {bson.TypeObjectID, fromText("a string of 24 hexadecimal digits", readObjectID)},
	"$date":       {bson.TypeDateTime, writeDate},
	"$numberInt":  {bson.TypeInt32, fromText("a string with a 32-bit integer", readInt32)},
	"$numberLong": {bson.TypeInt64, fromText("a string with a 64-bit integer", readInt64)},
	"$numberDouble": {bson.TypeDouble,
		fromText("a string with a number, NaN, Infinity or -Infinity", readDouble)},
	"$numberDecimal":     {bson.TypeDecimal128, fromText("a string with a number of at most 34 digits", readDecimal)},
	"$binary":            {bson.TypeBinary, fromPair("base64", "subType", writeBinary)},
	"$uuid":              {bson.TypeBinary, fromText("a UUID of 8-4-4-4-12 hexadecimal digits", readUUID)},
	"$regularExpression": {bson.TypeRegex, fromPair("pattern", "options", writeRegex)},
	"$timestamp":         {bson.TypeTimestamp, fromPair("t", "i", writeTimestamp)},
	"$dbPointer":         {bson.TypeDBPointer, fromPair("$ref", "$id", writeDBPointer)},
	"$symbol":            {bson.TypeSymbol, writeString},
	"$code":              {bson.TypeJavaScript, writeString},
	"$minKey":            {bson.TypeMinKey, only("1", "the number 1")},
	"$maxKey":            {bson.TypeMaxKey, only("1", "the number 1")},
	"$undefined":         {bson.TypeUndefined, only("true", "true")},
	"$binary\x00$type":   {bson.TypeBinary, writeBinary},
	"$code\x00$scope":    {bson.TypeCodeWithScope, writeCode},
	"$regex":             {bson.TypeRegex, writeRegex}, // see Options.RegexValues
	"$regex\x00$options": {bson.TypeRegex, writeRegex},
}

// object reads the object at pos, or its value if it is a wrapper. It first appends that value
// after the document, because it makes the value from the document's bytes, and then moves it to
// the document's place. So wrappers need no copy of their parts, although they stand in the memory
// that the value is written to.
func (p *parser) object(depth int) bson.Type {
	at, start := p.pos, len(p.buf)
	n := p.elements(depth)
	const firstKey = 4 + 1 // after the length and the type of the first element
	if n == 0 || n > 2 || p.buf[start+firstKey] != '$' {
		return bson.TypeEmbeddedDocument
	}
	r := raw.Read(p.buf[start:])
	first, _ := r.Next()
	second, _ := r.Next()
	switch string(first.Key) {
	case "$type", "$scope", "$options": // the other key names the type
		first, second = second, first
	}
	var buf [32]byte // longer than the keys of any wrapper
	keys := append(buf[:0], first.Key...)
	if second.Type != 0 {
		keys = append(append(keys, 0), second.Key...)
	}
	v, w := first.Value(), second.Value()
	wrapper, ok := wrappers[string(keys)]
	isRegex := p.opts.RegexValues && v.Type == bson.TypeString && (w.Type == 0 || w.Type == bson.TypeString)
	if !ok || string(first.Key) == "$regex" && !isRegex {
		return bson.TypeEmbeddedDocument
	}
	end := len(p.buf)
	written, err := wrapper.write(p.buf, v, w)
	if err != nil {
		p.fail(at, "%s: %v", first.Key, err)
	}
	p.buf = written[:start+copy(written[start:], written[end:])]
	return wrapper.t
}

// fromText returns a writer that applies read to a string. The error is made once, because it
// depends on the type alone.
func fromText(wants string, read func(dst, s []byte) ([]byte, error)) writer {
	refused := errors.New("wants " + wants)
	return func(dst []byte, v, _ bson.RawValue) ([]byte, error) {
		if v.Type != bson.TypeString {
			return dst, refused
		}
		written, err := read(dst, textOf(v.Value))
		if err != nil {
			return dst, refused
		}
		return written, nil
	}
}

// errRefused is the error of the read functions; fromText replaces it.
var errRefused = errors.New("refused")

// readObjectID reads the digits of an ObjectID, in either case.
func readObjectID(dst, s []byte) ([]byte, error) {
	if len(s) != 24 {
		return nil, errRefused
	}
	return hex.AppendDecode(dst, s)
}

// readInt32 and readInt64 refuse numbers that do not fit.
func readInt32(dst, s []byte) ([]byte, error) {
	i, err := strconv.ParseInt(string(s), 10, 32)
	return bsoncore.AppendInt32(dst, int32(i)), err
}

func readInt64(dst, s []byte) ([]byte, error) {
	i, err := strconv.ParseInt(string(s), 10, 64)
	return bsoncore.AppendInt64(dst, i), err
}

// readDouble refuses what strconv accepts beyond Extended JSON: hexadecimal, "inf".
func readDouble(dst, s []byte) ([]byte, error) {
	text := string(s)
	if named := text == "NaN" || text == "Infinity" ||
		text == "-Infinity"; !named && strings.Trim(text, "+-.eE0123456789") != "" {
		return nil, errRefused
	}
	f, err := strconv.ParseFloat(text, 64)
	return bsoncore.AppendDouble(dst, f), err
}

// maxDecimalText bounds the text of a decimal, because the driver's conversion takes quadratic
// time. A decimal has 34 digits.
const maxDecimalText = 128

// readDecimal refuses more digits than a decimal has, as it would have to round.
func readDecimal(dst, s []byte) ([]byte, error) {
	if len(s) > maxDecimalText {
		return nil, errRefused
	}
	d, err := bson.ParseDecimal128(string(s))
	high, low := d.GetBytes()
	return bsoncore.AppendDecimal128(dst, high, low), err
}

// readUUID reads a UUID as binary data of subtype 4, with its length and subtype before it.
func readUUID(dst, s []byte) ([]byte, error) {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return nil, errRefused
	}
	digits := slices.Concat(s[:8], s[9:13], s[14:18], s[19:23], s[24:])
	return hex.AppendDecode(append(dst, 16, 0, 0, 0, bson.TypeBinaryUUID), digits)
}

// writeDate reads a text, or the milliseconds that {"$numberLong": …} stands for.
func writeDate(dst []byte, v, _ bson.RawValue) ([]byte, error) {
	ms, ok := raw.Int(v), v.Type == bson.TypeInt32 || v.Type == bson.TypeInt64
	if v.Type == bson.TypeString {
		ms, ok = parseDate(raw.Text(v))
	}
	if !ok {
		return dst, errors.New("wants an ISO 8601 date with a time zone, or milliseconds since 1970")
	}
	return bsoncore.AppendDateTime(dst, ms), nil
}

// writeString appends a string unchanged: symbols and code have the same form.
func writeString(dst []byte, v, _ bson.RawValue) ([]byte, error) {
	if v.Type != bson.TypeString {
		return dst, errors.New("wants a string")
	}
	return append(dst, v.Value...), nil
}

// only returns a writer for types that have one value, written as the given JSON. MinKey, MaxKey
// and undefined have no bytes.
func only(json, wants string) writer {
	return func(dst []byte, v, _ bson.RawValue) ([]byte, error) {
		if string(Append(nil, v)) != json {
			return dst, errors.New("wants " + wants)
		}
		return dst, nil
	}
}

// fromPair returns a writer that applies write to the values of a document with exactly two keys.
// The keys may come in either order.
func fromPair(key1, key2 string, write writer) writer {
	return func(dst []byte, v, _ bson.RawValue) ([]byte, error) {
		if v.Type == bson.TypeEmbeddedDocument {
			r := raw.Read(v.Value)
			a, _ := r.Next()
			b, _ := r.Next()
			if string(a.Key) == key2 {
				a, b = b, a
			}
			if _, more := r.Next(); !more && string(a.Key) == key1 && string(b.Key) == key2 {
				return write(dst, a.Value(), b.Value())
			}
		}
		return dst, errors.New("wants an object of " + key1 + " and " + key2)
	}
}

// writeBinary appends a binary value from its data in base64 and its subtype as one or two hexadecimal digits.
func writeBinary(dst []byte, data, subtype bson.RawValue) ([]byte, error) {
	kind, err := strconv.ParseUint(raw.Text(subtype), 16, 8)
	if subtype.Type != bson.TypeString || err != nil || len(raw.Text(subtype)) > 2 {
		return dst, errors.New("wants one or two hexadecimal digits as subtype")
	}
	content, err := base64.StdEncoding.DecodeString(raw.Text(data))
	if data.Type != bson.TypeString || err != nil {
		return dst, errors.New("wants a string in base64")
	}
	return bsoncore.AppendBinary(dst, byte(kind), content), nil
}

// writeRegex appends a regular expression, its options in alphabetical order, as MongoDB stores them.
func writeRegex(dst []byte, pattern, options bson.RawValue) ([]byte, error) {
	if pattern.Type != bson.TypeString || options.Type != bson.TypeString && options.Type != 0 {
		return dst, errors.New("wants strings as pattern and options")
	}
	expr, letters := raw.Text(pattern), []byte(raw.Text(options))
	if strings.ContainsRune(expr, 0) || slices.Contains(letters, 0) {
		return dst, errors.New("must not contain \\u0000")
	}
	slices.Sort(letters)
	return bsoncore.AppendRegex(dst, expr, string(letters)), nil
}

// writeTimestamp appends seconds and ordinal, each an unsigned number of 32 bits.
func writeTimestamp(dst []byte, t, i bson.RawValue) ([]byte, error) {
	seconds, ok1 := unsigned32(t)
	ordinal, ok2 := unsigned32(i)
	if !ok1 || !ok2 {
		return dst, errors.New("wants t and i from 0 to 4294967295")
	}
	return bsoncore.AppendTimestamp(dst, seconds, ordinal), nil
}

// unsigned32 returns an integer that fits.
func unsigned32(v bson.RawValue) (uint32, bool) {
	n := raw.Int(v)
	return uint32(n), (v.Type == bson.TypeInt32 || v.Type == bson.TypeInt64) && 0 <= n && n <= math.MaxUint32
}

// writeDBPointer appends a deprecated type, which old records still have.
func writeDBPointer(dst []byte, ref, id bson.RawValue) ([]byte, error) {
	if ref.Type != bson.TypeString || id.Type != bson.TypeObjectID {
		return dst, errors.New("wants a string as $ref and an $oid as $id")
	}
	return append(append(dst, ref.Value...), id.Value...), nil
}

// writeCode appends JavaScript with its variables. Nothing here runs it.
func writeCode(dst []byte, code, scope bson.RawValue) ([]byte, error) {
	if code.Type != bson.TypeString || scope.Type != bson.TypeEmbeddedDocument {
		return dst, errors.New("wants a string, and an object as $scope")
	}
	return bsoncore.AppendCodeWithScope(dst, raw.Text(code), scope.Value), nil
}
