package filter

import (
	"iter"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/cockroachdb/apd/v3"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"vitrine/rules/raw"
)

// decimals computes as decimal128 does: 34 digits, half to even. The conditions that its methods return are ignored:
// an undefined result is NaN.
var decimals = &apd.Context{Precision: 34, MaxExponent: 6144, MinExponent: -6143, Rounding: apd.RoundHalfEven}

// decimalOperation is an operation on the decimals x and y, which sets d.
type decimalOperation func(d, x, y *apd.Decimal) (apd.Condition, error)

// compute charges for bringing two decimals to one exponent, which may take thousands of digits.
func (s *state) compute(op decimalOperation, x, y *apd.Decimal) *apd.Decimal {
	apart := int(x.Exponent) - int(y.Exponent)
	s.steps -= max(apart, -apart) / 16
	var d apd.Decimal
	_, _ = op(&d, x, y)
	return &d
}

// arithmetic is an operation on doubles, and on decimals and integers.
type arithmetic struct {
	doubles  func(x, y float64) float64
	decimals decimalOperation
}

var (
	multiply = arithmetic{func(x, y float64) float64 { return x * y }, decimals.Mul}
	subtract = arithmetic{func(x, y float64) float64 { return x - y }, decimals.Sub}
	modulo   = arithmetic{math.Mod, decimals.Rem}
)

// of applies the operation to two numbers. Integers beyond 64 bits become a double.
func (op arithmetic) of(s *state, a, b bson.RawValue) bson.RawValue {
	if t := wider(a.Type, b.Type); t != bson.TypeDouble {
		d := s.compute(op.decimals, toApd(a, 15), toApd(b, 15))
		if t == bson.TypeDecimal128 {
			return decimalValue(d)
		}
		if n, err := d.Int64(); err == nil {
			return intOf(n, t)
		}
	}
	return doubleValue(op.doubles(float(a), float(b)))
}

// wider returns the type of a result from the types of two numbers. Type 0 stands for no number.
func wider(a, b bson.Type) bson.Type {
	t := max(a, b) // the codes of int32, int64 and decimal128 ascend
	if t != bson.TypeDecimal128 && (a == bson.TypeDouble || b == bson.TypeDouble) {
		return bson.TypeDouble
	}
	return t
}

// evalMultiply multiplies in the widest type of the numbers so far. Without numbers the result is 1.
func evalMultiply(f frame) bson.RawValue {
	product := intValue(1, bson.TypeInt32)
	if !f.all(func(i int) { product = multiply.of(f.state, product, f.number(i)) }) {
		return null
	}
	return product
}

// evalSubtract subtracts a date from a date, in milliseconds, or milliseconds from a date.
func evalSubtract(f frame) bson.RawValue {
	a, b := f.values[0], f.values[1]
	if a.Type != bson.TypeDateTime {
		return subtract.of(f.state, f.number(0), f.number(1))
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

// dividend returns two arguments that have a quotient.
func (f frame) dividend() (a, b bson.RawValue) {
	a, b = f.number(0), f.number(1)
	if !raw.Truth(b) {
		f.fail("cannot divide by zero")
	}
	return a, b
}

// evalDivide returns a double for integers, even if the quotient is whole.
func evalDivide(f frame) bson.RawValue {
	a, b := f.dividend()
	if wider(a.Type, b.Type) == bson.TypeDecimal128 {
		return decimalValue(f.state.compute(decimals.Quo, toApd(a, 15), toApd(b, 15)))
	}
	return doubleValue(float(a) / float(b))
}

// evalMod returns a remainder with the sign of the dividend. For an integer and a whole double it is an integer.
func evalMod(f frame) bson.RawValue {
	a, b := f.dividend()
	if n, whole, ok := raw.Truncate(b); ok && whole && wider(a.Type, b.Type) == bson.TypeDouble {
		b = intOf(n, bson.TypeInt32)
	}
	return modulo.of(f.state, a, b)
}

// evalAbs returns an int64 for the least int32.
func evalAbs(f frame) bson.RawValue {
	v := f.number(0)
	if v.Type == bson.TypeDouble || v.Type == bson.TypeDecimal128 {
		return fractional(math.Abs, decimals.Abs)(f)
	}
	n := raw.Int(v)
	if n == math.MinInt64 {
		f.fail("cannot take the least of the long integers")
	}
	return intOf(max(n, -n), v.Type)
}

// fractional is $floor or $ceil, which keep integers.
func fractional(of func(float64) float64, ofDecimal func(d, x *apd.Decimal) (apd.Condition, error)) evaluation {
	return func(f frame) bson.RawValue {
		v := f.number(0)
		switch v.Type {
		case bson.TypeDouble:
			return doubleValue(of(raw.Double(v)))
		case bson.TypeDecimal128:
			d := toApd(v, 0)
			_, _ = ofDecimal(d, d)
			return decimalValue(d)
		}
		return v
	}
}

// evalRound rounds half to even, at a place after the point or, if negative, before it.
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
		return doubleValue(floatOf(d))
	}
	n, err := d.Int64()
	if err != nil {
		f.fail("leaves the range of the number's type")
	}
	return intOf(n, v.Type)
}

// total adds numbers: integers and doubles with the digits of two doubles, decimals with 34 digits.
type total struct {
	kind      bson.Type // the widest type so far; 0 before the first number
	n         int       // how many numbers were added
	sum, lost float64   // sum of integers and doubles, and the part of it lost by rounding
	decimal   apd.Decimal
}

func (t *total) add(s *state, v bson.RawValue) {
	t.n++
	t.kind = wider(t.kind, v.Type)
	switch v.Type {
	case bson.TypeDecimal128:
		t.decimal = *s.compute(decimals.Add, &t.decimal, toApd(v, 0))
	case bson.TypeDouble:
		t.addDouble(raw.Double(v))
	default: // a double may not be able to hold it
		n := raw.Int(v)
		t.addDouble(float64(n >> 32 << 32))
		t.addDouble(float64(n & math.MaxUint32))
	}
}

// addDouble adds a double without loss.
func (t *total) addDouble(d float64) {
	sum := t.sum + d
	if part := sum - t.sum; !math.IsInf(sum, 0) {
		t.lost += (t.sum - (sum - part)) + (d - part)
	}
	t.sum = sum
}

// float returns the sum of all numbers except decimals.
func (t *total) float() float64 { return t.sum + t.lost }

// exact returns the sum as a decimal.
func (t *total) exact(s *state) *apd.Decimal {
	sum := &t.decimal
	for _, d := range []float64{t.sum, t.lost} {
		if d != 0 {
			sum = s.compute(decimals.Add, sum, toApd(doubleValue(d), 34))
		}
	}
	return sum
}

// value returns the sum in the narrowest type that can hold it.
func (t *total) value(s *state) bson.RawValue {
	switch t.kind {
	case bson.TypeDecimal128:
		return decimalValue(t.exact(s))
	case bson.TypeDouble:
		return doubleValue(t.float())
	}
	sum := new(big.Float).SetPrec(128)
	if n, accuracy := sum.Add(big.NewFloat(t.sum), big.NewFloat(t.lost)).Int64(); accuracy == big.Exact {
		return intOf(n, t.kind)
	}
	return doubleValue(t.float())
}

// evalAdd adds numbers, and adds them as milliseconds to at most one date.
func evalAdd(f frame) bson.RawValue {
	var t total
	dated := false
	for _, v := range f.values {
		switch {
		case raw.IsNone(v):
			return null
		case v.Type == bson.TypeDateTime && dated:
			f.fail("takes one date only")
		case v.Type == bson.TypeDateTime:
			dated = true
			v.Type = bson.TypeInt64
		case !raw.IsNumber(v.Type):
			f.fail("takes numbers and dates, not %s", typeName(v))
		}
		t.add(f.state, v)
	}
	if !dated {
		return t.value(f.state)
	}
	ms, _, fits := raw.Truncate(decimalValue(t.exact(f.state)))
	if !fits {
		f.fail("leaves the range of dates")
	}
	return intValue(ms, bson.TypeDateTime)
}

// items yields the elements of a single array argument, or else the arguments.
func (f frame) items() iter.Seq[bson.RawValue] {
	if len(f.values) == 1 && f.values[0].Type == bson.TypeArray {
		return raw.Elements(f.values[0])
	}
	return slices.Values(f.values)
}

// sum adds the numbers and ignores other values.
func (f frame) sum() *total {
	t := &total{}
	for v := range f.items() {
		if raw.IsNumber(v.Type) {
			t.add(f.state, v)
		}
	}
	return t
}

// evalAvg returns null if there are no numbers. The mean of integers is a double.
func evalAvg(f frame) bson.RawValue {
	t := f.sum()
	switch {
	case t.n == 0:
		return null
	case t.kind == bson.TypeDecimal128:
		return decimalValue(f.state.compute(decimals.Quo, t.exact(f.state), apd.New(int64(t.n), 0)))
	}
	return doubleValue(t.float() / float64(t.n))
}

// extreme returns $max for sign 1, and $min for sign -1.
func extreme(sign int) evaluation {
	return func(f frame) bson.RawValue {
		best := null
		for v := range f.items() {
			if !raw.IsNone(v) && (raw.IsNone(best) || raw.Compare(v, best)*sign > 0) {
				best = v
			}
		}
		return best
	}
}

// intOf returns an int32 if that is the type and n fits, and an int64 otherwise.
func intOf(n int64, t bson.Type) bson.RawValue {
	if t != bson.TypeInt64 && n == int64(int32(n)) {
		return intValue(n, bson.TypeInt32)
	}
	return intValue(n, bson.TypeInt64)
}

func float(v bson.RawValue) float64 {
	switch v.Type {
	case bson.TypeDouble:
		return raw.Double(v)
	case bson.TypeDecimal128:
		return floatOf(toApd(v, 0))
	}
	return float64(raw.Int(v))
}

// floatOf converts a decimal. The result is infinite if the decimal exceeds the range of doubles.
func floatOf(d *apd.Decimal) float64 {
	f, _ := d.Float64()
	return f
}

// toApd converts a number to a decimal. It uses the first digits of a double.
func toApd(v bson.RawValue, digits int) *apd.Decimal {
	var text string
	switch v.Type {
	case bson.TypeDouble:
		text = strconv.FormatFloat(raw.Double(v), 'e', digits-1, 64)
	case bson.TypeDecimal128:
		d, _ := v.Decimal128OK()
		text = d.String()
	default:
		return apd.New(raw.Int(v), 0)
	}
	return parseApd(text)
}

func parseApd(text string) *apd.Decimal {
	d, _, err := apd.NewFromString(text)
	if err != nil {
		return &apd.Decimal{Form: apd.NaN}
	}
	return d
}

// decimalValue returns a number of up to 34 digits as a decimal128.
func decimalValue(d *apd.Decimal) bson.RawValue {
	parsed, err := bson.ParseDecimal128(d.String())
	if err != nil {
		parsed, _ = bson.ParseDecimal128("NaN")
	}
	hi, lo := parsed.GetBytes()
	return bson.RawValue{Type: bson.TypeDecimal128, Value: bsoncore.AppendDecimal128(nil, hi, lo)}
}

func doubleValue(d float64) bson.RawValue {
	return bson.RawValue{Type: bson.TypeDouble, Value: bsoncore.AppendDouble(nil, d)}
}
