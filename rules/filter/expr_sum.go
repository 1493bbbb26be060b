package filter

import (
	"iter"
	"math"
	"math/bits"
	"slices"

	"github.com/cockroachdb/apd/v3"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// total adds numbers as MongoDB does: exactly as long as there are integers alone, with
// twice a double's digits else.
type total struct {
	state   *state
	kind    bson.Type // the widest so far; 0 before the first number
	n       int       // how many numbers there are
	hi      int64     // the integers, hi·2^64 + lo
	lo      uint64
	doubles doubleDouble
	decimal apd.Decimal
}

// doubleDouble is the sum of two doubles, the second being what the first has lost.
// plain is the sum without it, which is right where there are infinities.
type doubleDouble struct{ sum, lost, plain float64 }

// add keeps what rounding loses (Knuth's two-sum).
func (d *doubleDouble) add(x float64) {
	d.plain += x
	sum := d.sum + x
	virtual := sum - d.sum
	d.lost += (d.sum - (sum - virtual)) + (x - virtual)
	d.sum = sum
}

// parts returns two doubles whose sum is the value.
func (d *doubleDouble) parts() (sum, lost float64) {
	if math.IsInf(d.plain, 0) || math.IsNaN(d.plain) {
		return d.plain, 0
	}
	return d.sum, d.lost
}

// add adds a number of any type.
func (t *total) add(v bson.RawValue) {
	t.n++
	switch v.Type {
	case bson.TypeDecimal128:
		d := toApd(v, 0)
		t.state.align(&t.decimal, d)
		_, _ = decimals.Add(&t.decimal, &t.decimal, d)
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

// addInt adds in 128 bits, which no sum of a document leaves.
func (t *total) addInt(n int64) {
	var carry uint64
	t.lo, carry = bits.Add64(t.lo, uint64(n), 0)
	t.hi += n>>63 + int64(carry)
}

// long returns the sum of the integers; false if it leaves 64 bits.
func (t *total) long() (int64, bool) { return int64(t.lo), t.hi == int64(t.lo)>>63 }

// undecimal returns the sum of all that is no decimal, as two doubles.
func (t *total) undecimal() (sum, lost float64) {
	d := t.doubles
	d.add(math.Ldexp(float64(t.hi), 64))
	d.add(float64(t.lo >> 32 << 32))
	d.add(float64(uint32(t.lo)))
	return d.parts()
}

// float is undecimal, rounded.
func (t *total) float() float64 {
	sum, lost := t.undecimal()
	return sum + lost
}

// exact is the sum as a decimal.
func (t *total) exact() *apd.Decimal {
	exact := new(apd.Decimal).Set(&t.decimal)
	sum, lost := t.undecimal()
	for _, part := range []float64{sum, lost} {
		_, _ = decimals.Add(exact, exact, toApd(doubleValue(part), 34))
	}
	return exact
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
func evalAdd(f frame) bson.RawValue {
	t := total{state: f.state}
	dated := false
	for _, v := range f.values {
		switch {
		case nullish(v):
			return null
		case raw.IsNumber(v.Type):
			t.add(v)
		case v.Type != bson.TypeDateTime:
			return f.fail("takes numbers and dates, not %s", typeName(v))
		case dated:
			return f.fail("takes one date only")
		default:
			dated = true
			t.addInt(int64(raw.Uint64(v.Value)))
		}
	}
	if !dated {
		return t.value()
	}
	ms, fits := t.long()
	if t.kind == bson.TypeDouble || t.kind == bson.TypeDecimal128 {
		ms, _, fits = raw.Truncate(decimalValue(t.exact()))
	}
	if !fits {
		return f.fail("leaves the range of dates")
	}
	return intValue(ms, bson.TypeDateTime)
}

// listed yields what an operator goes through that takes a list or several arguments.
func (f frame) listed() iter.Seq[bson.RawValue] {
	if len(f.values) == 1 && f.values[0].Type == bson.TypeArray {
		return raw.Elements(f.values[0])
	}
	return slices.Values(f.values)
}

// sum adds the numbers and leaves out the rest.
func (f frame) sum() total {
	t := total{state: f.state}
	for v := range f.listed() {
		if raw.IsNumber(v.Type) {
			t.add(v)
		}
	}
	return t
}

// evalAvg is null if there is no number; the mean of integers is a double.
func evalAvg(f frame) bson.RawValue {
	t := f.sum()
	switch {
	case t.n == 0:
		return null
	case t.kind == bson.TypeDecimal128:
		var mean apd.Decimal
		_, _ = decimals.Quo(&mean, t.exact(), apd.New(int64(t.n), 0))
		return decimalValue(&mean)
	}
	return doubleValue(t.float() / float64(t.n))
}

// extreme is $max, with sign 1, or $min, with sign -1.
func extreme(sign int) evaluation {
	return func(f frame) bson.RawValue {
		best := null
		for v := range f.listed() {
			if !nullish(v) && (nullish(best) || raw.Compare(v, best)*sign > 0) {
				best = v
			}
		}
		return best
	}
}
