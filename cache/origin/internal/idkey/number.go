package idkey

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// The kinds of number, in order.
const (
	numberNaN byte = iota
	numberNegInf
	numberNegative
	numberZero
	numberPositive
	numberPosInf
)

// decimal is the finite number ±0.DIGITS × 10^exponent. Every BSON number is one
// exactly, a double included, which is why numbers of all types share one order.
type decimal struct {
	negative bool
	digits   []byte // '0' to '9', neither leading nor trailing zeros; empty for zero
	exponent int
}

// appendNumber appends a number's kind and, unless that says all, its decimal.
func appendNumber(dst []byte, v bson.RawValue) ([]byte, error) {
	switch v.Type {
	case bson.TypeInt32:
		i, ok := v.Int32OK()
		return appendDecimal(dst, decimalOfInt(int64(i))), malformedUnless(ok)
	case bson.TypeInt64:
		i, ok := v.Int64OK()
		return appendDecimal(dst, decimalOfInt(i)), malformedUnless(ok)
	case bson.TypeDouble:
		f, ok := v.DoubleOK()
		if kind, ok := nonFinite(math.IsNaN(f), math.IsInf(f, 1), math.IsInf(f, -1)); ok {
			return append(dst, kind), nil
		}
		return appendDecimal(dst, decimalOfFloat(f)), malformedUnless(ok)
	default:
		d, ok := v.Decimal128OK()
		if !ok {
			return nil, errMalformed
		}
		return appendDecimal128(dst, d)
	}
}

// appendDecimal128 appends a Decimal128.
func appendDecimal128(dst []byte, d bson.Decimal128) ([]byte, error) {
	if kind, ok := nonFinite(d.IsNaN(), d.IsInf() > 0, d.IsInf() < 0); ok {
		return append(dst, kind), nil
	}
	coefficient, exponent, err := d.BigInt()
	if err != nil {
		return nil, err
	}
	negative := coefficient.Sign() < 0
	digits := coefficient.Abs(coefficient).Append(nil, 10)
	return appendDecimal(dst, newDecimal(negative, digits, len(digits)+exponent)), nil
}

// nonFinite returns the kind of a number that is none.
func nonFinite(nan, posInf, negInf bool) (kind byte, ok bool) {
	switch {
	case nan:
		return numberNaN, true
	case posInf:
		return numberPosInf, true
	case negInf:
		return numberNegInf, true
	}
	return 0, false
}

// newDecimal trims the zeros off 0.digits × 10^exponent.
func newDecimal(negative bool, digits []byte, exponent int) decimal {
	trimmed := bytes.TrimLeft(digits, "0")
	exponent -= len(digits) - len(trimmed)
	return decimal{negative, bytes.TrimRight(trimmed, "0"), exponent}
}

// decimalOfInt returns an integer as decimal.
func decimalOfInt(i int64) decimal {
	magnitude := uint64(i)
	if i < 0 {
		magnitude = -magnitude // right for the smallest integer, too
	}
	digits := strconv.AppendUint(nil, magnitude, 10)
	return newDecimal(i < 0, digits, len(digits))
}

// maxDoubleDigits is how many significant digits the longest exact decimal
// expansion of a double has, less the one before the point.
const maxDoubleDigits = 766

// decimalOfFloat returns the exact decimal expansion of a finite double.
func decimalOfFloat(f float64) decimal {
	if f == math.Trunc(f) && math.Abs(f) < 1<<63 {
		return decimalOfInt(int64(f)) // the common case: an integer that came as a double
	}
	text := strconv.AppendFloat(nil, math.Abs(f), 'e', maxDoubleDigits, 64) // d.ddd…e±dd
	mantissa, power, _ := bytes.Cut(text, []byte{'e'})
	exponent, _ := strconv.Atoi(string(power)) // strconv wrote it
	digits := append(mantissa[:1], mantissa[2:]...)
	return newDecimal(f < 0, digits, exponent+1)
}

// appendDecimal appends kind, biased exponent and digits so that bytes compare
// like the numbers; of a negative number everything after the kind is inverted.
func appendDecimal(dst []byte, d decimal) []byte {
	if len(d.digits) == 0 {
		return append(dst, numberZero)
	}
	kind := numberPositive
	if d.negative {
		kind = numberNegative
	}
	dst = append(dst, kind)
	start := len(dst)
	dst = binary.BigEndian.AppendUint16(dst, uint16(d.exponent+math.MaxInt16))
	for _, c := range d.digits {
		dst = append(dst, c-'0'+1)
	}
	dst = append(dst, 0)
	if d.negative {
		for i := start; i < len(dst); i++ {
			dst[i] = ^dst[i]
		}
	}
	return dst
}
