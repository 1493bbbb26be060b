package filter

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"

	"github.com/cockroachdb/apd/v3"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// decimals computes as decimal128 does: 34 digits, half to even.
var decimals = &apd.Context{Precision: 34, MaxExponent: 6144, MinExponent: -6143, Rounding: apd.RoundHalfEven}

// align counts the work of bringing two decimals to one exponent, which may take
// thousands of digits.
func (s *state) align(a, b *apd.Decimal) {
	apart := int(a.Exponent) - int(b.Exponent)
	s.left -= 8 + max(apart, -apart)/2
}

// numbers returns an error unless all values are numbers; nothing is computed if one
// is null, which decides before the types of those behind it do.
func (c *call) numbers(args []bson.RawValue) (someNull bool, err error) {
	for _, v := range args {
		if nullish(v) {
			return true, nil
		}
		if !raw.IsNumber(v.Type) {
			return false, c.wrongf("takes numbers, not %s", typeName(v))
		}
	}
	return false, nil
}

func evalMultiply(c *call, s *state, args []bson.RawValue) (bson.RawValue, error) {
	if someNull, err := c.numbers(args); someNull || err != nil {
		return null, err
	}
	product := intValue(1, bson.TypeInt32)
	for _, v := range args {
		product = combine(s, c.name, product, v)
	}
	return product, nil
}

func evalSubtract(c *call, s *state, args []bson.RawValue) (bson.RawValue, error) {
	a, b := args[0], args[1]
	if a.Type != bson.TypeDateTime || nullish(b) {
		if nullish(a) || nullish(b) {
			return null, nil
		}
		if _, err := c.numbers(args); err != nil {
			return null, err
		}
		return combine(s, c.name, a, b), nil
	}
	at := int64(raw.Uint64(a.Value))
	if b.Type == bson.TypeDateTime {
		return intValue(at-int64(raw.Uint64(b.Value)), bson.TypeInt64), nil
	}
	ms, _, ok := raw.Truncate(b)
	if !ok {
		return null, c.wrongf("takes numbers and dates, not %s", typeName(b))
	}
	return intValue(at-ms, bson.TypeDateTime), nil
}

// combine computes with two numbers.
func combine(s *state, name string, a, b bson.RawValue) bson.RawValue {
	switch {
	case a.Type == bson.TypeDecimal128 || b.Type == bson.TypeDecimal128:
		operation := decimals.Mul
		if name == "$subtract" {
			operation = decimals.Sub
		}
		var d apd.Decimal
		x, y := toApd(a, 15), toApd(b, 15)
		s.align(x, y)
		_, _ = operation(&d, x, y) // what is no number comes out as NaN
		return decimalValue(&d)
	case a.Type == bson.TypeDouble || b.Type == bson.TypeDouble:
		return doubleValue(combineFloats(name, float(a), float(b)))
	}
	n, ok := combineInts(name, raw.Int(a), raw.Int(b))
	if !ok {
		return doubleValue(combineFloats(name, float(a), float(b)))
	}
	return intOf(n, a, b)
}

// intOf makes an int32 of whole numbers that all are, if it fits, else an int64.
func intOf(n int64, from ...bson.RawValue) bson.RawValue {
	for _, v := range from {
		if v.Type == bson.TypeInt64 {
			return intValue(n, bson.TypeInt64)
		}
	}
	if n != int64(int32(n)) {
		return intValue(n, bson.TypeInt64)
	}
	return intValue(n, bson.TypeInt32)
}

// float converts a number.
func float(v bson.RawValue) float64 {
	switch v.Type {
	case bson.TypeDouble:
		return raw.Double(v)
	case bson.TypeDecimal128:
		f, _ := strconv.ParseFloat(toApd(v, 0).String(), 64) // infinite beyond its range
		return f
	}
	return float64(raw.Int(v))
}

func combineFloats(name string, a, b float64) float64 {
	if name == "$multiply" {
		return a * b
	}
	return a - b
}

// combineInts computes with integers; false if the result leaves 64 bits.
func combineInts(name string, a, b int64) (int64, bool) {
	if name == "$subtract" {
		n := a - b
		return n, (a < b) == (n < 0)
	}
	hi, lo := bits.Mul64(magnitude(a), magnitude(b))
	n := int64(lo)
	if (a < 0) != (b < 0) {
		return -n, hi == 0 && lo <= 1<<63
	}
	return n, hi == 0 && lo < 1<<63
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// toApd converts a number; a double by so many of its digits.
func toApd(v bson.RawValue, digits int) *apd.Decimal {
	switch v.Type {
	case bson.TypeDouble:
		return parseApd(strconv.FormatFloat(raw.Double(v), 'e', digits-1, 64))
	case bson.TypeDecimal128:
		if d, ok := v.Decimal128OK(); ok {
			return parseApd(d.String())
		}
	}
	return apd.New(raw.Int(v), 0)
}

// parseApd reads what other numbers are written as.
func parseApd(s string) *apd.Decimal {
	d, _, err := apd.NewFromString(s)
	if err != nil {
		return &apd.Decimal{Form: apd.NaN}
	}
	return d
}

// decimalValue makes a decimal128 of a number of 34 digits.
func decimalValue(d *apd.Decimal) bson.RawValue {
	parsed, err := bson.ParseDecimal128(d.String())
	if err != nil {
		parsed, _ = bson.ParseDecimal128("NaN")
	}
	hi, lo := parsed.GetBytes()
	value := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, lo), hi)
	return bson.RawValue{Type: bson.TypeDecimal128, Value: value}
}

// intValue makes an int32, int64 or date.
func intValue(n int64, t bson.Type) bson.RawValue {
	if t == bson.TypeInt32 {
		return bson.RawValue{Type: t, Value: binary.LittleEndian.AppendUint32(nil, uint32(n))}
	}
	return bson.RawValue{Type: t, Value: binary.LittleEndian.AppendUint64(nil, uint64(n))}
}

func doubleValue(d float64) bson.RawValue {
	return bson.RawValue{Type: bson.TypeDouble, Value: binary.LittleEndian.AppendUint64(nil, math.Float64bits(d))}
}
