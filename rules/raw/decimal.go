package raw

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// DecimalKind tells finite decimals from the others.
type DecimalKind uint8

// The kinds of decimals.
const (
	DecimalFinite DecimalKind = iota
	DecimalInf
	DecimalNaN
)

// Decimal is a decoded decimal128: (-1)^neg · (hi·2^64 + lo) · 10^exp.
type Decimal struct {
	Kind   DecimalKind
	Neg    bool
	hi, lo uint64 // at most 34 digits
	Exp    int
}

// The layout of a decimal128 in binary integer encoding (IEEE 754-2008).
const (
	decimalBias    = 6176
	decimalMaxHigh = 0x1ed09bead87c0 // 10^34 - 1 is decimalMaxHigh·2^64 + decimalMaxLow
	decimalMaxLow  = 0x378d8e63ffffffff
)

// DecodeDecimal decodes a decimal128; a coefficient beyond 34 digits is not
// canonical and means zero.
func DecodeDecimal(b []byte) Decimal {
	if len(b) < 16 {
		return Decimal{Kind: DecimalNaN}
	}
	lo, h := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	d := Decimal{Neg: h>>63 == 1}
	switch {
	case h>>58&0x1f == 0x1f:
		d.Kind = DecimalNaN
	case h>>58&0x1f == 0x1e:
		d.Kind = DecimalInf
	case h>>61&3 == 3:
		d.Exp = int(h>>47&0x3fff) - decimalBias
	default:
		d.Exp = int(h>>49&0x3fff) - decimalBias
		d.hi, d.lo = h&(1<<49-1), lo
		if d.hi > decimalMaxHigh || d.hi == decimalMaxHigh && d.lo > decimalMaxLow {
			d.hi, d.lo = 0, 0
		}
	}
	return d
}

// decimalFromInt converts an integer exactly.
func decimalFromInt(i int64) Decimal {
	if i < 0 {
		return Decimal{Neg: true, lo: -uint64(i)}
	}
	return Decimal{lo: uint64(i)}
}

// zero reports whether d is a finite zero of either sign.
func (d Decimal) zero() bool { return d.Kind == DecimalFinite && d.hi == 0 && d.lo == 0 }

// Sign returns -1, 0 or 1; NaN has none and gives 0.
func (d Decimal) Sign() int {
	switch {
	case d.Kind == DecimalNaN || d.zero():
		return 0
	case d.Neg:
		return -1
	}
	return 1
}

// digits counts the decimal digits of the coefficient; zero has none.
func (d Decimal) digits() int {
	n := 0
	for hi, lo := d.hi, d.lo; hi != 0 || lo != 0; n++ {
		hi, lo, _ = div10(hi, lo)
	}
	return n
}

// div10 divides a 128-bit number by ten.
func div10(hi, lo uint64) (qhi, qlo, rem uint64) {
	qhi, rem = hi/10, hi%10
	qlo, rem = bits.Div64(rem, lo, 10)
	return qhi, qlo, rem
}

// mul10 multiplies a 128-bit number by ten.
func mul10(hi, lo uint64) (uint64, uint64) {
	carry, low := bits.Mul64(lo, 10)
	return hi*10 + carry, low
}

// Reduced returns the same value without trailing zeros in the coefficient, and
// zero as plain zero: equal decimals become identical.
func (d Decimal) Reduced() Decimal {
	if d.Kind != DecimalFinite {
		return Decimal{Kind: d.Kind, Neg: d.Neg && d.Kind == DecimalInf}
	}
	if d.zero() {
		return Decimal{}
	}
	for {
		hi, lo, rem := div10(d.hi, d.lo)
		if rem != 0 {
			return d
		}
		d.hi, d.lo = hi, lo
		d.Exp++
	}
}

// truncate is Truncate of a decimal.
func (d Decimal) truncate() (n int64, integral, ok bool) {
	if d.Kind != DecimalFinite {
		return 0, false, false
	}
	d = d.Reduced()
	integral = d.Exp >= 0
	if d.digits()+d.Exp > 19 {
		return 0, integral, false
	}
	for ; d.Exp < 0 && (d.hi != 0 || d.lo != 0); d.Exp++ {
		d.hi, d.lo, _ = div10(d.hi, d.lo)
	}
	for ; d.Exp > 0; d.Exp-- {
		d.hi, d.lo = mul10(d.hi, d.lo)
	}
	limit := uint64(math.MaxInt64)
	if d.Neg {
		limit++
	}
	if d.hi != 0 || d.lo > limit {
		return 0, integral, false
	}
	if d.Neg {
		return -int64(d.lo), integral, true
	}
	return int64(d.lo), integral, true
}

// compareDecimals orders two decimals, NaN first.
func compareDecimals(a, b Decimal) int {
	if a.Kind == DecimalNaN || b.Kind == DecimalNaN {
		return cmp.Compare(nanRank(a.Kind == DecimalNaN), nanRank(b.Kind == DecimalNaN))
	}
	sign := a.Sign()
	if c := cmp.Compare(sign, b.Sign()); c != 0 || sign == 0 {
		return c
	}
	if a.Kind == DecimalInf || b.Kind == DecimalInf {
		return sign * cmp.Compare(a.Kind, b.Kind)
	}
	return sign * compareMagnitudes(a, b)
}

// nanRank puts NaN below the rest.
func nanRank(nan bool) int {
	if nan {
		return 0
	}
	return 1
}

// compareMagnitudes orders two finite non-zero decimals by absolute value. With
// the same place of the first digit, the shorter coefficient can be scaled to the
// longer one's length without leaving 34 digits.
func compareMagnitudes(a, b Decimal) int {
	na, nb := a.digits(), b.digits()
	if c := cmp.Compare(na+a.Exp, nb+b.Exp); c != 0 {
		return c
	}
	for ; na < nb; na++ {
		a.hi, a.lo = mul10(a.hi, a.lo)
	}
	for ; nb < na; nb++ {
		b.hi, b.lo = mul10(b.hi, b.lo)
	}
	if c := cmp.Compare(a.hi, b.hi); c != 0 {
		return c
	}
	return cmp.Compare(a.lo, b.lo)
}

// compareWithDecimal orders two numbers of which at least one is a decimal128.
func compareWithDecimal(a, b bson.RawValue) int {
	switch {
	case a.Type == bson.TypeDouble:
		return -compareDecimalDouble(DecodeDecimal(b.Value), Double(a))
	case b.Type == bson.TypeDouble:
		return compareDecimalDouble(DecodeDecimal(a.Value), Double(b))
	}
	return compareDecimals(toDecimal(a), toDecimal(b))
}

// toDecimal converts a decimal128 or integer value exactly.
func toDecimal(v bson.RawValue) Decimal {
	if v.Type == bson.TypeDecimal128 {
		return DecodeDecimal(v.Value)
	}
	return decimalFromInt(Int(v))
}

// compareDecimalDouble orders a decimal and a double by their exact values.
func compareDecimalDouble(d Decimal, f float64) int {
	if math.IsNaN(f) || d.Kind == DecimalNaN {
		return cmp.Compare(nanRank(d.Kind == DecimalNaN), nanRank(math.IsNaN(f)))
	}
	sign := d.Sign()
	if c := cmp.Compare(sign, cmp.Compare(f, 0)); c != 0 || sign == 0 {
		return c
	}
	if d.Kind == DecimalInf || math.IsInf(f, 0) {
		return sign * (btoi(d.Kind == DecimalInf) - btoi(math.IsInf(f, 0)))
	}
	// Doubles lie between 10^-324 and 10^309: outside, the exponent decides, and
	// inside, the big integers below stay small.
	switch place := d.digits() + d.Exp; {
	case place > 310:
		return sign
	case place < -325:
		return -sign
	}
	return sign * compareExactly(d, math.Abs(f))
}

// compareExactly orders |d| and f, both finite and positive, by bringing
// coefficient·10^exp and mantissa·2^e to whole numbers.
func compareExactly(d Decimal, f float64) int {
	frac, e := math.Frexp(f)
	mantissa, e := int64(frac*(1<<53)), e-53
	left := d.Coefficient()
	right := big.NewInt(mantissa)
	ten := big.NewInt(10)
	if d.Exp >= 0 {
		left.Mul(left, new(big.Int).Exp(ten, big.NewInt(int64(d.Exp)), nil))
	} else {
		right.Mul(right, new(big.Int).Exp(ten, big.NewInt(int64(-d.Exp)), nil))
	}
	if e >= 0 {
		right.Lsh(right, uint(e))
	} else {
		left.Lsh(left, uint(-e))
	}
	return left.Cmp(right)
}

// Coefficient returns the unsigned coefficient as a big integer.
func (d Decimal) Coefficient() *big.Int {
	c := new(big.Int).SetUint64(d.hi)
	return c.Lsh(c, 64).Or(c, new(big.Int).SetUint64(d.lo))
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
