package filter

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// fold combines values from left to right with $add, $subtract or $multiply; false
// if one of them cannot take part. Nothing to combine gives the neutral number.
func fold(name string, values []bson.RawValue) (bson.RawValue, bool) {
	var neutral int64
	if name == "$multiply" {
		neutral = 1
	}
	if len(values) == 0 {
		return intValue(neutral, bson.TypeInt32), true
	}
	total := values[0]
	for _, v := range values[1:] {
		var ok bool
		if total, ok = combine(name, total, v); !ok {
			return total, false
		}
	}
	return total, isNumber(total.Type) || total.Type == bson.TypeDateTime
}

// combine computes with two values: numbers, or a date where it makes sense.
func combine(name string, a, b bson.RawValue) (bson.RawValue, bool) {
	if a.Type == bson.TypeDateTime || b.Type == bson.TypeDateTime {
		return combineDates(name, a, b)
	}
	switch {
	case !isNumber(a.Type) || !isNumber(b.Type):
		return a, false
	case a.Type == bson.TypeDecimal128 || b.Type == bson.TypeDecimal128:
		return combineDecimals(name, a, b)
	case a.Type == bson.TypeDouble || b.Type == bson.TypeDouble:
		return doubleValue(combineFloats(name, float(a), float(b))), true
	}
	n, ok := combineInts(name, integer(a), integer(b))
	if !ok {
		return doubleValue(combineFloats(name, float(a), float(b))), true
	}
	t := bson.TypeInt64
	if a.Type == bson.TypeInt32 && b.Type == bson.TypeInt32 && n == int64(int32(n)) {
		t = bson.TypeInt32
	}
	return intValue(n, t), true
}

// float converts a number that is no decimal.
func float(v bson.RawValue) float64 {
	if v.Type == bson.TypeDouble {
		return double(v)
	}
	return float64(integer(v))
}

func combineFloats(name string, a, b float64) float64 {
	switch name {
	case "$multiply":
		return a * b
	case "$subtract":
		return a - b
	}
	return a + b
}

// combineInts computes with integers; false if the result leaves 64 bits.
func combineInts(name string, a, b int64) (int64, bool) {
	switch name {
	case "$multiply":
		hi, lo := bits.Mul64(magnitude(a), magnitude(b))
		n := int64(lo)
		if (a < 0) != (b < 0) {
			return -n, hi == 0 && lo <= 1<<63
		}
		return n, hi == 0 && lo < 1<<63
	case "$subtract":
		n := a - b
		return n, (a < b) == (n < 0)
	}
	n := a + b
	return n, (n < a) == (b < 0)
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// combineDates moves a date by milliseconds, or takes the distance of two.
func combineDates(name string, a, b bson.RawValue) (bson.RawValue, bool) {
	if name == "$add" && b.Type == bson.TypeDateTime {
		a, b = b, a
	}
	if a.Type != bson.TypeDateTime || name == "$multiply" {
		return a, false
	}
	at := int64(wide(a.Value))
	if name == "$subtract" && b.Type == bson.TypeDateTime {
		return intValue(at-int64(wide(b.Value)), bson.TypeInt64), true
	}
	ms, _, ok := truncated(b)
	if name == "$subtract" {
		ms = -ms
	}
	return intValue(at+ms, bson.TypeDateTime), ok
}

// combineDecimals computes with decimal128, rounding half to even to 34 digits.
// Special values are left out: they make the computation fail.
func combineDecimals(name string, a, b bson.RawValue) (bson.RawValue, bool) {
	x, okx := bigDecimalOf(a)
	y, oky := bigDecimalOf(b)
	if !okx || !oky {
		return a, false
	}
	if name == "$multiply" {
		return roundDecimal(new(big.Int).Mul(x.n, y.n), x.exp+y.exp)
	}
	exp := min(x.exp, y.exp)
	left, right := x.scaled(exp), y.scaled(exp)
	if name == "$subtract" {
		return roundDecimal(left.Sub(left, right), exp)
	}
	return roundDecimal(left.Add(left, right), exp)
}

// bigDecimal is n·10^exp.
type bigDecimal struct {
	n   *big.Int
	exp int
}

// bigDecimalOf converts a finite number; doubles by their 15 digits, as MongoDB does.
func bigDecimalOf(v bson.RawValue) (bigDecimal, bool) {
	d := decimal{}
	switch v.Type {
	case bson.TypeDouble:
		parsed, err := bson.ParseDecimal128(strconv.FormatFloat(double(v), 'e', 14, 64))
		if err != nil {
			return bigDecimal{}, false
		}
		hi, lo := parsed.GetBytes()
		d = decodeDecimal(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, lo), hi)).stripped()
	default:
		d = toDecimal(v)
	}
	n := d.coefficient()
	if d.neg {
		n.Neg(n)
	}
	return bigDecimal{n, d.exp}, d.kind == decimalFinite
}

// scaled returns the coefficient for a smaller exponent.
func (d bigDecimal) scaled(exp int) *big.Int {
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(d.exp-exp)), nil)
	return power.Mul(power, d.n)
}

// roundDecimal makes a decimal128 of n·10^exp.
func roundDecimal(n *big.Int, exp int) (bson.RawValue, bool) {
	if over := len(new(big.Int).Abs(n).String()) - 34; over > 0 {
		unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(over)), nil)
		rest := new(big.Int)
		n.QuoRem(n, unit, rest)
		rest.Abs(rest).Lsh(rest, 1)
		if c := rest.Cmp(unit); c > 0 || c == 0 && n.Bit(0) == 1 {
			n.Add(n, big.NewInt(int64(n.Sign()|1)))
		}
		exp += over
	}
	d, ok := bson.ParseDecimal128FromBigInt(n, exp)
	hi, lo := d.GetBytes()
	value := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, lo), hi)
	return bson.RawValue{Type: bson.TypeDecimal128, Value: value}, ok
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

func boolValue(b bool) bson.RawValue {
	i := btoi(b)
	return bson.RawValue{Type: bson.TypeBoolean, Value: booleans[i : i+1]}
}

// booleans are the encodings of false and true, which nobody writes to.
var booleans = [2]byte{0, 1}

func stringValue(s string) bson.RawValue {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(s)+1))
	return bson.RawValue{Type: bson.TypeString, Value: append(append(b, s...), 0)}
}

// documentBuilder encodes a document or array.
type documentBuilder struct{ buf []byte }

func (b *documentBuilder) add(name string, v bson.RawValue) {
	if b.buf == nil {
		b.buf = make([]byte, 4, 64)
	}
	b.buf = append(append(append(b.buf, byte(v.Type)), name...), 0)
	b.buf = append(b.buf, v.Value...)
}

// value closes the document.
func (b *documentBuilder) value(t bson.Type) bson.RawValue {
	if b.buf == nil {
		b.buf = make([]byte, 4)
	}
	b.buf = append(b.buf, 0)
	binary.LittleEndian.PutUint32(b.buf, uint32(len(b.buf)))
	return bson.RawValue{Type: t, Value: b.buf}
}

// arrayValue makes an array.
func arrayValue(values []bson.RawValue) bson.RawValue {
	var b documentBuilder
	for i, v := range values {
		b.add(strconv.Itoa(i), v)
	}
	return b.value(bson.TypeArray)
}
