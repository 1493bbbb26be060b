package raw

import (
	"bytes"
	"cmp"
	"math"
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
		return numberOfDecimal(decimalOf(v.Value))
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

// finite removes the outer zeros of ±0.digits × 10^exp.
func finite(kind NumberKind, digits []byte, exp int) Number {
	trimmed := bytes.TrimLeft(digits, "0")
	exp -= len(digits) - len(trimmed)
	if len(trimmed) == 0 {
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
	digits := make([]byte, n.Exp)
	for i := range digits {
		digits[i] = '0'
	}
	copy(digits, n.Digits)
	if n.Kind == NumberNegative {
		digits = append([]byte{'-'}, digits...)
	}
	whole, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil {
		return 0, integral, false
	}
	return whole, integral, true
}

// The largest coefficient of a decimal128, 10^34 - 1, is decimalMaxHigh·2^64 + decimalMaxLow.
const (
	decimalMaxHigh = 0x1ed09bead87c0
	decimalMaxLow  = 0x378d8e63ffffffff
)

// decimalOf returns a decimal128, NaN if b is too short. A coefficient of more than 34 digits
// is not canonical and means zero, as the driver sees only of those that begin with 11 after
// the sign.
func decimalOf(b []byte) bson.Decimal128 {
	if len(b) < 16 {
		return bson.NewDecimal128(0x1f<<58, 0)
	}
	lo, hi := Uint64(b), Uint64(b[8:])
	const coefficient = 1<<49 - 1
	if top := hi & coefficient; hi>>61&3 != 3 && (top > decimalMaxHigh || top == decimalMaxHigh && lo > decimalMaxLow) {
		hi, lo = hi&^coefficient, 0
	}
	return bson.NewDecimal128(hi, lo)
}

// numberOfDecimal returns a decimal128 as a Number.
func numberOfDecimal(d bson.Decimal128) Number {
	coefficient, exp, _ := d.BigInt() // an error of those that have none
	switch {
	case d.IsNaN():
		return Number{Kind: NumberNaN}
	case d.IsInf() < 0:
		return Number{Kind: NumberNegInf}
	case d.IsInf() > 0:
		return Number{Kind: NumberPosInf}
	}
	kind := NumberPositive
	if coefficient.Sign() < 0 {
		kind = NumberNegative
	}
	digits := coefficient.Abs(coefficient).Append(nil, 10)
	return finite(kind, digits, len(digits)+exp)
}

// AppendDecimal appends a decimal128 as its standard's "scientific string", the form that
// keeps the digits and the exponent of each of several equal numbers.
func AppendDecimal(dst, b []byte) []byte { return append(dst, decimalOf(b).String()...) }
