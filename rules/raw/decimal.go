package raw

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// NumberKind is the class of a number. Compare compares it first.
type NumberKind uint8

// The kinds of numbers, in MongoDB's order. Stores write them into keys: their values must not change.
const (
	NumberNaN NumberKind = iota
	NumberNegInf
	NumberNegative
	NumberZero
	NumberPositive
	NumberPosInf
)

// Number is ±0.Digits × 10^Exp, unless Kind says otherwise. It holds every BSON number exactly, doubles included,
// so numbers of all types share one order. Numbers that compare equal are identical.
type Number struct {
	Kind   NumberKind
	Digits []byte // '0' to '9', without zeros at either end; empty unless the number is finite and not zero
	Exp    int    // 0 if Digits is empty
}

// maxDoubleDigits is how many digits follow the point in the longest exact expansion of a double.
const maxDoubleDigits = 766

// NumberOf returns the exact value of a number of any type.
func NumberOf(v bson.RawValue) Number {
	if v.Type == bson.TypeDecimal128 {
		return parseNumber(decimalOf(v.Value).String())
	}
	if n, whole, ok := Truncate(v); whole && ok { // for doubles, many times faster than parsing
		return parseNumber(strconv.FormatInt(n, 10))
	}
	return parseNumber(strconv.FormatFloat(Double(v), 'e', maxDoubleDigits, 64))
}

// parseNumber reads a number in the form that strconv and the driver write.
func parseNumber(text string) Number {
	switch text {
	case "NaN":
		return Number{Kind: NumberNaN}
	case "-Inf", "-Infinity":
		return Number{Kind: NumberNegInf}
	case "+Inf", "Infinity":
		return Number{Kind: NumberPosInf}
	}
	kind := NumberPositive
	if text[0] == '-' {
		kind, text = NumberNegative, text[1:]
	}
	exp := 0
	if e := strings.IndexAny(text, "eE"); e >= 0 {
		exp, _ = strconv.Atoi(text[e+1:])
		text = text[:e]
	}
	whole, fraction, _ := strings.Cut(text, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return Number{Kind: NumberZero}
	}
	exp += len(digits) - len(fraction)
	return Number{kind, []byte(strings.TrimRight(digits, "0")), exp}
}

// Compare orders two numbers: -1, 0 or 1.
func (n Number) Compare(m Number) int {
	size := cmp.Or(cmp.Compare(n.Exp, m.Exp), bytes.Compare(n.Digits, m.Digits))
	if n.Kind == NumberNegative {
		size = -size
	}
	return cmp.Or(cmp.Compare(n.Kind, m.Kind), size)
}

// truncate is Truncate for a Number.
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
	if n.Exp > 19 { // more digits than the largest int64
		return 0, integral, false
	}
	text := string(n.Digits[:min(len(n.Digits), n.Exp)]) + strings.Repeat("0", max(n.Exp-len(n.Digits), 0))
	if n.Kind == NumberNegative {
		text = "-" + text
	}
	whole, err := strconv.ParseInt(text, 10, 64)
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

// decimalOf returns a decimal128, or NaN if b is too short. A coefficient of more than 34 digits is not canonical and
// means zero; the driver detects that only if the bits after the sign are 11.
func decimalOf(b []byte) bson.Decimal128 {
	if len(b) < 16 {
		return bson.NewDecimal128(0x1f<<58, 0)
	}
	lo, hi := Uint64(b), Uint64(b[8:])
	const coefficient = 1<<49 - 1
	if top := hi & coefficient; hi>>61&3 != 3 &&
		(top > decimalMaxHigh || top == decimalMaxHigh && lo > decimalMaxLow) {
		hi, lo = hi&^coefficient, 0
	}
	return bson.NewDecimal128(hi, lo)
}

// AppendDecimal appends a decimal128 as its standard's "scientific string", which preserves digits and exponent.
func AppendDecimal(dst, b []byte) []byte { return append(dst, decimalOf(b).String()...) }
