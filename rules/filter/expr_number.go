package filter

import (
	"math"
	"math/bits"
	"strconv"

	"github.com/cockroachdb/apd/v3"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// total adds numbers as MongoDB does: exactly as long as there are integers alone, with
// twice a double's digits else.
type total struct {
	state   *state
	kind    bson.Type // the widest so far
	n       int
	hi      int64 // the integers, hi·2^64 + lo
	lo      uint64
	doubles doubleDouble
	decimal apd.Decimal
}

// doubleDouble is the sum of two doubles, the second being what the first has lost.
// plain is the sum without it, which is right where there are infinities.
type doubleDouble struct{ sum, lost, plain float64 }

func (d *doubleDouble) add(x float64) {
	d.plain += x
	sum := d.sum + x
	virtual := sum - d.sum
	d.lost += (d.sum - (sum - virtual)) + (x - virtual)
	d.sum = sum
}

func (d *doubleDouble) value() float64 {
	if math.IsInf(d.plain, 0) || math.IsNaN(d.plain) {
		return d.plain
	}
	return d.sum + d.lost
}

func (t *total) add(v bson.RawValue) {
	t.n++
	switch v.Type {
	case bson.TypeDecimal128:
		d := toApd(v, 0)
		t.state.align(&t.decimal, d)
		_, _ = decimals.Add(&t.decimal, &t.decimal, d) // what is no number comes out as NaN
		t.kind = v.Type
	case bson.TypeDouble:
		t.doubles.add(raw.Double(v))
		if t.kind != bson.TypeDecimal128 {
			t.kind = v.Type
		}
	default:
		t.addInt(raw.Int(v))
		if t.kind == 0 || t.kind == bson.TypeInt32 {
			t.kind = v.Type
		}
	}
}

func (t *total) addInt(n int64) {
	var carry uint64
	t.lo, carry = bits.Add64(t.lo, uint64(n), 0)
	t.hi += n>>63 + int64(carry)
}

// long returns the sum of the integers; false if it leaves 64 bits.
func (t *total) long() (int64, bool) { return int64(t.lo), t.hi == int64(t.lo)>>63 }

// float is the sum of all that is no decimal.
func (t *total) float() float64 { return t.undecimal().value() }

func (t *total) undecimal() *doubleDouble {
	d := t.doubles
	d.add(math.Ldexp(float64(t.hi), 64))
	d.add(float64(t.lo >> 32 << 32))
	d.add(float64(uint32(t.lo)))
	return &d
}

// exact is the sum as a decimal.
func (t *total) exact() *apd.Decimal {
	d := t.undecimal()
	if math.IsInf(d.plain, 0) || math.IsNaN(d.plain) {
		d.sum, d.lost = d.plain, 0
	}
	sum := new(apd.Decimal).Set(&t.decimal)
	for _, part := range []float64{d.sum, d.lost} {
		_, _ = decimals.Add(sum, sum, toApd(doubleValue(part), 34))
	}
	return sum
}

// value is the sum in the narrowest type that holds it.
func (t *total) value() bson.RawValue {
	n, fits := t.long()
	switch {
	case t.kind == bson.TypeDecimal128:
		return decimalValue(t.exact())
	case t.kind == bson.TypeDouble || !fits:
		return doubleValue(t.float())
	}
	return intOf(n, bson.RawValue{Type: t.kind})
}

// evalAdd adds numbers, and moves at most one date by them in milliseconds.
func evalAdd(c *call, s *state, args []bson.RawValue) (bson.RawValue, error) {
	t := total{state: s}
	dated := false
	for _, v := range args {
		switch {
		case nullish(v):
			return null, nil
		case raw.IsNumber(v.Type):
			t.add(v)
		case v.Type != bson.TypeDateTime:
			return null, c.wrongf("takes numbers and dates, not %s", typeName(v))
		case dated:
			return null, c.wrongf("takes one date only")
		default:
			dated = true
			t.addInt(int64(raw.Uint64(v.Value)))
		}
	}
	if !dated {
		return t.value(), nil
	}
	ms, fits := t.long()
	if t.kind == bson.TypeDouble || t.kind == bson.TypeDecimal128 {
		ms, _, fits = raw.Truncate(decimalValue(t.exact()))
	}
	if !fits {
		return null, c.wrongf("leaves the range of dates")
	}
	return intValue(ms, bson.TypeDateTime), nil
}

// values yields what an operator goes through that takes a list or several arguments.
func values(args []bson.RawValue, yield func(v bson.RawValue)) {
	if len(args) == 1 && args[0].Type == bson.TypeArray {
		for v := range raw.Elements(args[0]) {
			yield(v)
		}
		return
	}
	for _, v := range args {
		yield(v)
	}
}

// summed adds the numbers and leaves out the rest.
func summed(s *state, args []bson.RawValue) total {
	t := total{state: s}
	values(args, func(v bson.RawValue) {
		if raw.IsNumber(v.Type) {
			t.add(v)
		}
	})
	return t
}

func evalSum(_ *call, s *state, args []bson.RawValue) (bson.RawValue, error) {
	t := summed(s, args)
	return t.value(), nil
}

func evalAvg(_ *call, s *state, args []bson.RawValue) (bson.RawValue, error) {
	t := summed(s, args)
	switch {
	case t.n == 0:
		return null, nil
	case t.kind == bson.TypeDecimal128:
		var mean apd.Decimal
		_, _ = decimals.Quo(&mean, t.exact(), apd.New(int64(t.n), 0))
		return decimalValue(&mean), nil
	}
	return doubleValue(t.float() / float64(t.n)), nil
}

// extreme is $max, with sign 1, or $min, with sign -1.
func extreme(sign int) evaluation {
	return func(_ *call, _ *state, args []bson.RawValue) (bson.RawValue, error) {
		best := null
		values(args, func(v bson.RawValue) {
			if !nullish(v) && (nullish(best) || raw.Compare(v, best)*sign > 0) {
				best = v
			}
		})
		return best, nil
	}
}

// divisor reports what decides before a division: null, or an error.
func (c *call) divisor(args []bson.RawValue) (someNull bool, err error) {
	if nullish(args[1]) {
		return true, nil
	}
	someNull, err = c.numbers(args)
	if err == nil && !someNull && !raw.Truth(args[1]) {
		err = c.wrongf("cannot divide by zero")
	}
	return someNull, err
}

func evalDivide(c *call, _ *state, args []bson.RawValue) (bson.RawValue, error) {
	if someNull, err := c.divisor(args); someNull || err != nil {
		return null, err
	}
	a, b := args[0], args[1]
	if a.Type == bson.TypeDecimal128 || b.Type == bson.TypeDecimal128 {
		var d apd.Decimal
		_, _ = decimals.Quo(&d, toApd(a, 15), toApd(b, 15))
		return decimalValue(&d), nil
	}
	return doubleValue(float(a) / float(b)), nil
}

func evalMod(c *call, s *state, args []bson.RawValue) (bson.RawValue, error) {
	if someNull, err := c.divisor(args); someNull || err != nil {
		return null, err
	}
	a, b := args[0], args[1]
	if a.Type == bson.TypeDecimal128 || b.Type == bson.TypeDecimal128 {
		var d apd.Decimal
		x, y := toApd(a, 15), toApd(b, 15)
		s.align(x, y)
		_, _ = remainders.Rem(&d, x, y)
		_, _ = decimals.Round(&d, &d)
		return decimalValue(&d), nil
	}
	n, whole, ok := raw.Truncate(b)
	if a.Type == bson.TypeDouble || !whole || !ok {
		return doubleValue(math.Mod(float(a), float(b))), nil
	}
	if b.Type == bson.TypeDouble {
		b = intOf(n)
	}
	return intOf(raw.Int(a)%n, a, b), nil
}

// remainders has room for the digits of the quotient, which may differ in size from the
// dividend by all the exponents there are.
var remainders = &apd.Context{Precision: 13_000, MaxExponent: apd.MaxExponent, MinExponent: apd.MinExponent, Rounding: apd.RoundHalfEven}

// number reports null, or an error unless a value is a number.
func (c *call) number(v bson.RawValue) (isNull bool, err error) {
	return c.numbers([]bson.RawValue{v})
}

func evalAbs(c *call, _ *state, args []bson.RawValue) (bson.RawValue, error) {
	v := args[0]
	if isNull, err := c.number(v); isNull || err != nil {
		return null, err
	}
	switch v.Type {
	case bson.TypeDouble:
		return doubleValue(math.Abs(raw.Double(v))), nil
	case bson.TypeDecimal128:
		d := toApd(v, 0)
		return decimalValue(d.Abs(d)), nil
	}
	n := raw.Int(v)
	if n == math.MinInt64 {
		return null, c.wrongf("cannot take the least of the long integers")
	}
	return intOf(max(n, -n), v), nil
}

// integral is $floor or $ceil.
func integral(of func(float64) float64, ofDecimal func(d, x *apd.Decimal) (apd.Condition, error)) evaluation {
	return func(c *call, _ *state, args []bson.RawValue) (bson.RawValue, error) {
		v := args[0]
		if isNull, err := c.number(v); isNull || err != nil {
			return null, err
		}
		switch v.Type {
		case bson.TypeDouble:
			return doubleValue(of(raw.Double(v))), nil
		case bson.TypeDecimal128:
			if d := toApd(v, 0); d.Form == apd.Finite && d.Exponent < 0 {
				_, _ = ofDecimal(d, d)
				return decimalValue(d), nil
			}
		}
		return v, nil
	}
}

func evalRound(c *call, _ *state, args []bson.RawValue) (bson.RawValue, error) {
	v, place := args[0], 0
	if isNull, err := c.number(v); isNull || err != nil {
		return null, err
	}
	if len(args) > 1 {
		if nullish(args[1]) {
			return null, nil
		}
		var err error
		if place, err = c.int32("place", args[1]); err != nil {
			return null, err
		}
		if place < -20 || place > 100 {
			return null, c.wrongf("takes a place from -20 to 100")
		}
	}
	d := toApd(v, 34)
	if d.Form != apd.Finite || int(d.Exponent) >= -place {
		return v, nil
	}
	_, _ = decimals.Quantize(d, d, int32(-place))
	switch v.Type {
	case bson.TypeDecimal128:
		return decimalValue(d), nil
	case bson.TypeDouble:
		f, err := strconv.ParseFloat(d.String(), 64)
		if err != nil {
			return v, nil
		}
		return doubleValue(f), nil
	}
	n, err := d.Int64()
	if err != nil {
		return null, c.wrongf("leaves the range of the number's type")
	}
	return intOf(n, v), nil
}
