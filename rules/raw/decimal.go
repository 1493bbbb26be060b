package raw

import (
	"bytes"
	"cmp"
	"math"
	"math/bits"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// NumberKind is what numbers are ordered by first.
type NumberKind uint8

// The kinds of numbers, in MongoDB's order. Stores write them into keys, so that their
// values must not change.
const (
	NumberNaN NumberKind = iota
	NumberNegInf
	NumberNegative
	NumberZero
	NumberPositive
	NumberPosInf
)

// Number is ±0.Digits × 10^Exp, or what Kind says. Every BSON number is one exactly, a
// double included, which is why numbers of all types share one order. Numbers that compare
// equal are identical.
type Number struct {
	Kind   NumberKind
	Digits []byte // '0' to '9', without zeros on either side; empty unless finite and not zero
	Exp    int    // 0 where Digits is empty
}

// NumberOf returns the exact value of a number of any type.
func NumberOf(v bson.RawValue) Number {
	switch v.Type {
	case bson.TypeDouble:
		return numberOfDouble(Double(v))
	case bson.TypeDecimal128:
		kind, digits, exp := decodeDecimal(nil, v.Value)
		return finite(kind, digits, len(digits)+exp)
	}
	return numberOfInt(Int(v))
}

// numberOfInt returns an integer as a Number.
func numberOfInt(i int64) Number {
	kind, magnitude := NumberPositive, uint64(i)
	if i < 0 {
		kind, magnitude = NumberNegative, -magnitude // right for the smallest integer, too
	}
	digits := strconv.AppendUint(nil, magnitude, 10)
	return finite(kind, digits, len(digits))
}

// maxDoubleDigits is how many significant digits the longest exact decimal expansion of a
// double has, less the one before the point.
const maxDoubleDigits = 766

// numberOfDouble returns the exact decimal expansion of a double.
func numberOfDouble(f float64) Number {
	switch {
	case math.IsNaN(f):
		return Number{Kind: NumberNaN}
	case math.IsInf(f, -1):
		return Number{Kind: NumberNegInf}
	case math.IsInf(f, 1):
		return Number{Kind: NumberPosInf}
	case f == math.Trunc(f) && math.Abs(f) < 1<<63:
		return numberOfInt(int64(f)) // the usual case, many times faster than the next lines
	}
	kind := NumberPositive
	if f < 0 {
		kind = NumberNegative
	}
	text := strconv.AppendFloat(nil, math.Abs(f), 'e', maxDoubleDigits, 64) // d.ddd…e±dd
	mantissa, power, _ := bytes.Cut(text, []byte{'e'})
	exp, _ := strconv.Atoi(string(power)) // strconv wrote it
	return finite(kind, append(mantissa[:1], mantissa[2:]...), exp+1)
}

// finite removes the outer zeros of ±0.digits × 10^exp. Other kinds have no digits.
func finite(kind NumberKind, digits []byte, exp int) Number {
	trimmed := bytes.TrimLeft(digits, "0")
	exp -= len(digits) - len(trimmed)
	switch {
	case kind == NumberNaN || kind == NumberNegInf || kind == NumberPosInf:
		return Number{Kind: kind}
	case len(trimmed) == 0:
		return Number{Kind: NumberZero}
	}
	return Number{kind, bytes.TrimRight(trimmed, "0"), exp}
}

// Compare orders two numbers: -1, 0 or 1.
func (n Number) Compare(m Number) int {
	size := cmp.Or(cmp.Compare(n.Exp, m.Exp), bytes.Compare(n.Digits, m.Digits))
	if n.Kind == NumberNegative {
		size = -size
	}
	return cmp.Or(cmp.Compare(n.Kind, m.Kind), size)
}

// truncate is Truncate of a Number.
func (n Number) truncate() (whole int64, integral, ok bool) {
	switch {
	case n.Kind == NumberZero:
		return 0, true, true
	case len(n.Digits) == 0:
		return 0, false, false
	case n.Exp <= 0:
		return 0, false, true
	}
	integral = len(n.Digits) <= n.Exp
	if n.Exp > 19 { // digits of the largest int64
		return 0, integral, false
	}
	var room [20]byte
	digits := append(room[:0], '+')
	if n.Kind == NumberNegative {
		digits[0] = '-'
	}
	digits = append(digits, n.Digits[:min(n.Exp, len(n.Digits))]...)
	for len(digits) <= n.Exp {
		digits = append(digits, '0')
	}
	whole, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil {
		return 0, integral, false
	}
	return whole, integral, true
}

// The layout of a decimal128 in binary integer encoding (IEEE 754-2008).
const (
	decimalBias    = 6176
	decimalMaxHigh = 0x1ed09bead87c0 // 10^34 - 1 is decimalMaxHigh·2^64 + decimalMaxLow
	decimalMaxLow  = 0x378d8e63ffffffff

	tenTo17 = 100_000_000_000_000_000 // coefficients are taken apart into twice 17 digits
)

// decodeDecimal takes a decimal128 apart into its sign (a kind that is never NumberZero),
// the decimal digits of its coefficient, which it appends to dst, and its exponent. A
// coefficient of more than 34 digits is not canonical and means zero, as are all those
// that begin with 11 after the sign, which have the exponent two bits further on.
func decodeDecimal(dst, b []byte) (kind NumberKind, digits []byte, exp int) {
	if len(b) < 16 {
		return NumberNaN, nil, 0
	}
	lo, hi := Uint64(b), Uint64(b[8:])
	negative := hi>>63 == 1
	switch special := hi >> 58 & 0x1f; {
	case special == 0x1f:
		return NumberNaN, nil, 0
	case special == 0x1e && negative:
		return NumberNegInf, nil, 0
	case special == 0x1e:
		return NumberPosInf, nil, 0
	}
	kind, exp = NumberPositive, int(hi>>49&0x3fff)-decimalBias
	if negative {
		kind = NumberNegative
	}
	if hi>>61&3 == 3 {
		exp, lo, hi = int(hi>>47&0x3fff)-decimalBias, 0, 0
	}
	hi &= 1<<49 - 1
	if hi > decimalMaxHigh || hi == decimalMaxHigh && lo > decimalMaxLow {
		hi, lo = 0, 0
	}
	upper, lower := bits.Div64(hi, lo, tenTo17)
	if upper == 0 {
		return kind, strconv.AppendUint(dst, lower, 10), exp
	}
	dst = strconv.AppendUint(dst, upper, 10)
	n := len(dst)
	dst = strconv.AppendUint(dst, lower+tenTo17, 10) // with a digit in front that keeps the zeros
	return kind, append(dst[:n], dst[n+1:]...), exp
}

// AppendDecimal appends a decimal128 as its standard's "scientific string", the form that
// keeps the digits and the exponent of each of several equal numbers.
func AppendDecimal(dst, b []byte) []byte {
	var room [40]byte
	kind, digits, exp := decodeDecimal(room[:0], b)
	if kind == NumberNaN {
		return append(dst, "NaN"...)
	}
	if kind < NumberZero {
		dst = append(dst, '-')
	}
	if len(digits) == 0 {
		return append(dst, "Infinity"...)
	}
	return appendScientific(dst, digits, exp)
}

// appendScientific appends digits·10^exp, with an exponent only if it is positive or the
// number smaller than 10^-6.
func appendScientific(dst, digits []byte, exp int) []byte {
	first := exp + len(digits) - 1 // the power of ten of the first digit
	switch {
	case exp > 0 || first < -6:
		dst = append(dst, digits[0])
		if len(digits) > 1 {
			dst = append(append(dst, '.'), digits[1:]...)
		}
		dst = append(dst, 'E')
		if first >= 0 {
			dst = append(dst, '+')
		}
		return strconv.AppendInt(dst, int64(first), 10)
	case exp == 0:
		return append(dst, digits...)
	case first >= 0:
		point := len(digits) + exp
		dst = append(append(dst, digits[:point]...), '.')
		return append(dst, digits[point:]...)
	}
	dst = append(append(dst, "0."...), "00000"[:-first-1]...)
	return append(dst, digits...)
}
