package filter

import (
	"iter"
	"math"
	"math/big"
	"slices"

	"github.com/cockroachdb/apd/v3"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// total adds numbers: integers and doubles exactly, and rounds their sum once.
type total struct {
	state   *state
	kind    bson.Type // the widest so far; 0 before the first number
	n       int       // the count of numbers
	sum     big.Float // of the integers and the finite doubles
	special float64   // the sum of the infinities and NaNs; 0 without them
	decimal apd.Decimal
}

// sumPrecision is a precision at which no sum of a document's doubles is rounded.
const sumPrecision = 2200

// newTotal returns a total of nothing.
func newTotal(s *state) *total {
	t := &total{state: s}
	t.sum.SetPrec(sumPrecision)
	return t
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
		if d := raw.Double(v); math.IsInf(d, 0) || math.IsNaN(d) {
			t.special += d
		} else {
			t.sum.Add(&t.sum, big.NewFloat(d))
		}
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

// addInt adds an integer.
func (t *total) addInt(n int64) { t.sum.Add(&t.sum, new(big.Float).SetInt64(n)) }

// long returns the sum of integers; false if it leaves 64 bits.
func (t *total) long() (int64, bool) {
	n, accuracy := t.sum.Int64()
	return n, accuracy == big.Exact
}

// float returns the sum of all numbers but decimals.
func (t *total) float() float64 {
	if t.special != 0 {
		return t.special
	}
	f, _ := t.sum.Float64()
	return f
}

// exact is the sum as a decimal.
func (t *total) exact() *apd.Decimal {
	rest := toApd(doubleValue(t.special), 34)
	if t.special == 0 {
		rest = parseApd(t.sum.Text('e', 40))
	}
	_, _ = decimals.Add(rest, rest, &t.decimal)
	return rest
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
	t := newTotal(f.state)
	dated := false
	for _, v := range f.values {
		switch {
		case raw.IsNone(v):
			return null
		case raw.IsNumber(v.Type):
			t.add(v)
		case v.Type != bson.TypeDateTime:
			f.fail("takes numbers and dates, not %s", typeName(v))
		case dated:
			f.fail("takes one date only")
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
		f.fail("leaves the range of dates")
	}
	return intValue(ms, bson.TypeDateTime)
}

// items yields the elements of a single array argument, otherwise the arguments.
func (f frame) items() iter.Seq[bson.RawValue] {
	if len(f.values) == 1 && f.values[0].Type == bson.TypeArray {
		return raw.Elements(f.values[0])
	}
	return slices.Values(f.values)
}

// sum adds the numbers and leaves out the rest.
func (f frame) sum() *total {
	t := newTotal(f.state)
	for v := range f.items() {
		if raw.IsNumber(v.Type) {
			t.add(v)
		}
	}
	return t
}

// evalAvg returns null without numbers. The mean of integers is a double.
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
		for v := range f.items() {
			if !raw.IsNone(v) && (raw.IsNone(best) || raw.Compare(v, best)*sign > 0) {
				best = v
			}
		}
		return best
	}
}
