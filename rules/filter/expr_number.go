package filter

import (
	"math"
	"math/big"
	"strconv"

	"github.com/cockroachdb/apd/v3"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"vitrine/rules/raw"
)

// decimals computes as decimal128 does: 34 digits, half to even. Its methods return a
// condition, which is not needed: an undefined result is NaN.
var decimals = &apd.Context{Precision: 34, MaxExponent: 6144, MinExponent: -6143, Rounding: apd.RoundHalfEven}

// align counts the work of bringing two decimals to one exponent, which may take
// thousands of digits.
func (s *state) align(a, b *apd.Decimal) {
	apart := int(a.Exponent) - int(b.Exponent)
	s.steps -= 8 + max(apart, -apart)/2
}

// numbers reports whether all arguments are numbers. If not, the value is null.
func (f frame) numbers() bool { return f.all(func(i int) { f.number(i) }) }

// arithmetic is an operation in each of the kinds of numbers.
type arithmetic struct {
	ints     func(z, x, y *big.Int) *big.Int // if nil, doubles is used
	doubles  func(x, y float64) float64
	decimals func(d, x, y *apd.Decimal) (apd.Condition, error)
}

var (
	multiply = arithmetic{(*big.Int).Mul, func(x, y float64) float64 { return x * y }, decimals.Mul}
	subtract = arithmetic{(*big.Int).Sub, func(x, y float64) float64 { return x - y }, decimals.Sub}
	divide   = arithmetic{nil, func(x, y float64) float64 { return x / y }, decimals.Quo}
	modulo   = arithmetic{(*big.Int).Rem, math.Mod, decimals.Rem}
)

// of computes with two numbers. Integers beyond 64 bits become a double.
func (op arithmetic) of(s *state, a, b bson.RawValue) bson.RawValue {
	switch {
	case a.Type == bson.TypeDecimal128 || b.Type == bson.TypeDecimal128:
		var d apd.Decimal
		x, y := toApd(a, 15), toApd(b, 15)
		s.align(x, y)
		_, _ = op.decimals(&d, x, y)
		return decimalValue(&d)
	case op.ints != nil && a.Type != bson.TypeDouble && b.Type != bson.TypeDouble:
		if n := op.ints(new(big.Int), big.NewInt(raw.Int(a)), big.NewInt(raw.Int(b))); n.IsInt64() {
			return intOf(n.Int64(), a, b)
		}
	}
	return doubleValue(op.doubles(float(a), float(b)))
}

// evalMultiply multiplies in the widest type of the numbers so far; without numbers it is 1.
func evalMultiply(f frame) bson.RawValue {
	if !f.numbers() {
		return null
	}
	product := intValue(1, bson.TypeInt32)
	for _, v := range f.values {
		product = multiply.of(f.state, product, v)
	}
	return product
}

// evalSubtract takes a date from a date, in milliseconds, or milliseconds from a date.
func evalSubtract(f frame) bson.RawValue {
	a, b := f.values[0], f.values[1]
	if a.Type != bson.TypeDateTime {
		if !f.numbers() {
			return null
		}
		return subtract.of(f.state, a, b)
	}
	at := int64(raw.Uint64(a.Value))
	if b.Type == bson.TypeDateTime {
		return intValue(at-int64(raw.Uint64(b.Value)), bson.TypeInt64)
	}
	ms, _, ok := raw.Truncate(b)
	if !ok {
		f.fail("takes numbers and dates, not %s", typeName(b))
	}
	return intValue(at-ms, bson.TypeDateTime)
}

// divisible reports whether the arguments have a quotient; if not, the result is null.
func (f frame) divisible() bool {
	if raw.IsNone(f.values[1]) || !f.numbers() {
		return false
	}
	if !raw.Truth(f.values[1]) {
		f.fail("cannot divide by zero")
	}
	return true
}

// evalDivide makes a double of integers, even if the quotient is whole.
func evalDivide(f frame) bson.RawValue {
	if !f.divisible() {
		return null
	}
	return divide.of(f.state, f.values[0], f.values[1])
}

// evalMod gives the remainder the sign of the dividend. Of an integer and a whole double it
// is an integer.
func evalMod(f frame) bson.RawValue {
	if !f.divisible() {
		return null
	}
	a, b := f.values[0], f.values[1]
	n, whole, ok := raw.Truncate(b)
	if b.Type == bson.TypeDouble && whole && ok && a.Type != bson.TypeDecimal128 {
		b = intOf(n)
	}
	return modulo.of(f.state, a, b)
}

// evalAbs makes an int64 of the least int32.
func evalAbs(f frame) bson.RawValue {
	v := f.number(0)
	switch v.Type {
	case bson.TypeDouble:
		return doubleValue(math.Abs(raw.Double(v)))
	case bson.TypeDecimal128:
		d := toApd(v, 0)
		return decimalValue(d.Abs(d))
	}
	n := raw.Int(v)
	if n == math.MinInt64 {
		f.fail("cannot take the least of the long integers")
	}
	return intOf(max(n, -n), v)
}

// integral is $floor or $ceil.
func integral(of func(float64) float64, ofDecimal func(d, x *apd.Decimal) (apd.Condition, error)) evaluation {
	return func(f frame) bson.RawValue {
		v := f.number(0)
		switch v.Type {
		case bson.TypeDouble:
			return doubleValue(of(raw.Double(v)))
		case bson.TypeDecimal128:
			if d := toApd(v, 0); d.Form == apd.Finite && d.Exponent < 0 {
				_, _ = ofDecimal(d, d)
				return decimalValue(d)
			}
		}
		return v
	}
}

// evalRound rounds half to even, at a place behind the point or, if negative, before it.
func evalRound(f frame) bson.RawValue {
	v, place := f.number(0), 0
	if len(f.values) > 1 {
		if raw.IsNone(f.values[1]) {
			return null
		}
		if place = f.int32("place", f.values[1]); place < -20 || place > 100 {
			f.fail("takes a place from -20 to 100")
		}
	}
	d := toApd(v, 34)
	if d.Form != apd.Finite || int(d.Exponent) >= -place {
		return v
	}
	_, _ = decimals.Quantize(d, d, int32(-place))
	switch v.Type {
	case bson.TypeDecimal128:
		return decimalValue(d)
	case bson.TypeDouble:
		rounded, _ := strconv.ParseFloat(d.String(), 64) // of fewer digits than v: it has no range error
		return doubleValue(rounded)
	}
	n, err := d.Int64()
	if err != nil {
		f.fail("leaves the range of the number's type")
	}
	return intOf(n, v)
}

// intOf returns an int32 if the result fits and no operand is an int64, else an int64.
func intOf(n int64, operands ...bson.RawValue) bson.RawValue {
	t := bson.TypeInt32
	if n != int64(int32(n)) {
		t = bson.TypeInt64
	}
	for _, v := range operands {
		if v.Type == bson.TypeInt64 {
			t = v.Type
		}
	}
	return intValue(n, t)
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

// toApd converts a number. It takes the first digits of a double.
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

// parseApd reads the text of a number.
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
	return bson.RawValue{Type: bson.TypeDecimal128, Value: bsoncore.AppendDecimal128(nil, hi, lo)}
}

// doubleValue returns a double.
func doubleValue(d float64) bson.RawValue {
	return bson.RawValue{Type: bson.TypeDouble, Value: bsoncore.AppendDouble(nil, d)}
}
