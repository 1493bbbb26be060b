package filter

import (
	"iter"
	"math"
	"math/big"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"vitrine/rules/raw"
)

// Arithmetic on integers and doubles as MongoDB 6 to 8 computes it. What takes decimals, and the results on which
// these versions differ, are left to the database.

// wider returns the type of a result from the types of two numbers. Type 0 stands for no number.
// The order is MongoDB's: int32, int64, double. Decimals, the widest, never arrive here.
func wider(a, b bson.Type) bson.Type {
	if a == bson.TypeDouble || b == bson.TypeDouble {
		return bson.TypeDouble
	}
	return max(a, b) // the codes of int32 and int64 ascend
}

// runningSum adds numbers one after the other: integers become a double with the first double, or
// when they exceed 64 bits.
type runningSum struct {
	whole    int64
	double   float64
	isDouble bool
}

// add adds an int32, int64 or double, without a way back from double to integer.
func (s *runningSum) add(v bson.RawValue) {
	if !s.isDouble && v.Type != bson.TypeDouble {
		n := raw.Int(v)
		// The sum grows exactly if n is positive; otherwise it wrapped around.
		if sum := s.whole + n; sum > s.whole == (n > 0) || n == 0 {
			s.whole = sum
			return
		}
	}
	if !s.isDouble {
		s.isDouble, s.double = true, float64(s.whole)
	}
	s.double += float(v)
}

// evalAdd adds numbers, and at most one date in milliseconds. Some versions of MongoDB round the
// sum of doubles once, others after each addition. Where that makes a difference, the database
// decides. So it adds in both ways, once without loss and once in turn, and compares the results.
// Arguments are lazy, because a null ends the evaluation before a later argument can fail.
func evalAdd(f frame) bson.RawValue {
	var once total
	var inTurn runningSum
	dated, allWhole := false, true
	for i := range f.call.args {
		v := f.lazy(i)
		switch {
		case raw.IsNone(v):
			return null
		case v.Type == bson.TypeDateTime && dated:
			f.fail("takes one date only")
		case v.Type == bson.TypeDateTime:
			dated = true
			v.Type = bson.TypeInt64
		}
		_, whole, fits := raw.Truncate(f.number(v))
		allWhole = allWhole && whole && fits
		once.add(v)
		inTurn.add(v)
	}
	sum := once.value()
	switch ms, _, fits := raw.Truncate(sum); {
	case dated && allWhole && fits && (!inTurn.isDouble || once.lost == 0): // versions round fractions differently
		return intValue(ms, bson.TypeDateTime)
	case dated:
	case !inTurn.isDouble:
		return intOf(inTurn.whole, once.kind)
	case sum.Type == bson.TypeDouble && raw.Compare(sum, doubleValue(inTurn.double)) == 0:
		return sum
	}
	f.beyond("of numbers whose sum depends on the server's version")
	return null
}

// evalMultiply multiplies in the widest type of the numbers so far. Without numbers the result is
// 1. The product of doubles is computed all along, for the moment at which an integer exceeds 64
// bits.
func evalMultiply(f frame) bson.RawValue {
	kind, whole, double := bson.TypeInt32, int64(1), 1.0
	for i := range f.call.args {
		v := f.lazy(i)
		if raw.IsNone(v) {
			return null
		}
		double *= float(f.number(v))
		if kind = wider(kind, v.Type); kind != bson.TypeDouble {
			product := new(big.Int).Mul(big.NewInt(whole), big.NewInt(raw.Int(v)))
			if whole = product.Int64(); !product.IsInt64() {
				kind = bson.TypeDouble
			}
		}
	}
	if kind == bson.TypeDouble {
		return doubleValue(double)
	}
	return intOf(whole, kind)
}

// evalSubtract subtracts a date from a date, in milliseconds, or whole milliseconds from a date. It
// checks for overflow like runningSum.add. Two integers whose difference exceeds 64 bits yield a
// double.
func evalSubtract(f frame) bson.RawValue {
	a, b := f.values[0], f.values[1]
	dated := a.Type == bson.TypeDateTime
	if dated && b.Type == bson.TypeDateTime {
		return intValue(int64(raw.Uint64(a.Value))-int64(raw.Uint64(b.Value)), bson.TypeInt64)
	}
	if dated {
		a.Type = bson.TypeInt64
	}
	kind := wider(f.number(a).Type, f.number(b).Type)
	n, whole, fits := raw.Truncate(b)
	difference := raw.Int(a) - n
	switch exact := fits && (difference < raw.Int(a)) == (n > 0); {
	case dated && whole && exact:
		return intValue(difference, bson.TypeDateTime)
	case dated: // versions round differently
		f.beyond("of a fraction or too large a number from a date")
	case kind != bson.TypeDouble && exact:
		return intOf(difference, kind)
	}
	return doubleValue(float(a) - float(b))
}

// dividend returns two arguments that have a quotient. Zero of any type is the only number without
// a truth value of true; NaN is true and divides.
func (f frame) dividend() (a, b bson.RawValue) {
	a, b = f.number(f.values[0]), f.number(f.values[1])
	if !raw.Truth(b) {
		f.fail("cannot divide by zero")
	}
	return a, b
}

// evalDivide returns a double for integers, even if the quotient is whole.
func evalDivide(f frame) bson.RawValue {
	a, b := f.dividend()
	return doubleValue(float(a) / float(b))
}

// evalMod returns a remainder with the sign of the dividend. For an integer and a whole double it
// is an integer. MongoDB treats 2.0 like 2 as a divisor, within 32 bits, so 7 mod 2.0 is the
// integer 1.
func evalMod(f frame) bson.RawValue {
	a, b := f.dividend()
	if n, whole, _ := raw.Truncate(b); whole && n == int64(int32(n)) && a.Type != bson.TypeDouble {
		b = intValue(n, max(bson.TypeInt32, b.Type))
	}
	if kind := wider(a.Type, b.Type); kind != bson.TypeDouble {
		return intOf(raw.Int(a)%raw.Int(b), kind)
	}
	return doubleValue(math.Mod(float(a), float(b)))
}

// evalAbs returns an int64 for the least int32. The least int64 has no positive counterpart, and
// MongoDB refuses it.
func evalAbs(f frame) bson.RawValue {
	v := f.number(f.values[0])
	if v.Type == bson.TypeDouble {
		return doubleValue(math.Abs(raw.Double(v)))
	}
	n := raw.Int(v)
	if n == math.MinInt64 {
		f.fail("cannot take the least of the long integers")
	}
	return intOf(max(n, -n), v.Type)
}

// rounding is $floor or $ceil, which keep integers.
func rounding(of func(float64) float64) evaluation {
	return func(f frame) bson.RawValue {
		v := f.number(f.values[0])
		if v.Type == bson.TypeDouble {
			return doubleValue(of(raw.Double(v)))
		}
		return v
	}
}

// total adds numbers with the digits of two doubles. The second double holds what rounding took
// from the first (Knuth's two-sum), so that the result hardly depends on the order of the numbers.
// MongoDB's $sum and $avg add in this way, too.
type total struct {
	kind      bson.Type // the widest type so far; 0 before the first number
	n         int       // how many numbers were added
	sum, lost float64   // the sum, and the part of it lost by rounding
}

func (t *total) add(v bson.RawValue) {
	t.n++
	t.kind = wider(t.kind, v.Type)
	if v.Type == bson.TypeDouble {
		t.addDouble(raw.Double(v))
		return
	}
	// A double has 53 bits. Each half of the integer has at most 32 significant ones and is exact.
	n := raw.Int(v) // a double may not be able to hold it
	t.addDouble(float64(n >> 32 << 32))
	t.addDouble(float64(n & math.MaxUint32))
}

// addDouble adds a double without loss.
func (t *total) addDouble(d float64) {
	sum := t.sum + d
	// After an overflow the lost part would be NaN, and infinity would turn into it.
	if part := sum - t.sum; !math.IsInf(sum, 0) {
		t.lost += (t.sum - (sum - part)) + (d - part)
	}
	t.sum = sum
}

func (t *total) float() float64 { return t.sum + t.lost }

// value returns the sum in the narrowest type that can hold it. 128 bits of precision hold both
// doubles of a sum of integers, so Exact says that the sum fits into 64 bits without rounding.
func (t *total) value() bson.RawValue {
	if t.kind != bson.TypeDouble {
		sum := new(big.Float).SetPrec(128)
		if n, accuracy := sum.Add(big.NewFloat(t.sum), big.NewFloat(t.lost)).Int64(); accuracy == big.Exact {
			return intOf(n, t.kind)
		}
	}
	return doubleValue(t.float())
}

// items yields the elements of a single array argument, or else the arguments. {$sum: "$a"} adds
// the elements of a; in {$sum: ["$a", 1]} an array does not count.
func (f frame) items() iter.Seq[bson.RawValue] {
	if len(f.values) == 1 && f.values[0].Type == bson.TypeArray {
		return raw.Elements(f.values[0])
	}
	return slices.Values(f.values)
}

// sum adds the numbers and ignores other values. Only MongoDB adds decimals, so one ends the
// evaluation.
func (f frame) sum() *total {
	t := &total{}
	for v := range f.items() {
		if raw.IsNumber(v.Type) {
			t.add(f.number(v))
		}
	}
	return t
}

// evalAvg returns null if there are no numbers. The mean of integers is a double.
func evalAvg(f frame) bson.RawValue {
	t := f.sum()
	if t.n == 0 {
		return null
	}
	return doubleValue(t.float() / float64(t.n))
}

// extreme returns $max for sign 1, and $min for sign -1. Types compare in MongoDB's total order, so
// decimals are no obstacle. Without a value the result is null.
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

// intOf returns an int64 if that is the type or n exceeds 32 bits, and an int32 otherwise.
func intOf(n int64, t bson.Type) bson.RawValue {
	if t != bson.TypeInt64 && n == int64(int32(n)) {
		return intValue(n, bson.TypeInt32)
	}
	return intValue(n, bson.TypeInt64)
}

// float returns an int32, int64 or double as a double.
func float(v bson.RawValue) float64 {
	if v.Type == bson.TypeDouble {
		return raw.Double(v)
	}
	return float64(raw.Int(v))
}

// doubleValue returns a double as BSON.
func doubleValue(d float64) bson.RawValue {
	return bson.RawValue{Type: bson.TypeDouble, Value: bsoncore.AppendDouble(nil, d)}
}
