package api

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// figure is the outcome of an aggregate function: a whole number, a real one, or
// none because there was nothing to reckon with.
type figure struct {
	kind  figureKind
	whole int64
	real  float64
}

type figureKind int

// The kinds of figure.
const (
	none figureKind = iota
	whole
	real
)

func (f figure) float() float64 {
	if f.kind == whole {
		return float64(f.whole)
	}
	return f.real
}

// compare orders figures by size; none is less than any.
func (f figure) compare(g figure) int {
	switch {
	case f.kind == none || g.kind == none:
		return cmp.Compare(min(f.kind, whole), min(g.kind, whole))
	case f.kind == whole && g.kind == whole:
		return cmp.Compare(f.whole, g.whole)
	}
	return cmp.Compare(f.float(), g.float())
}

// append writes a figure, a real one without fraction as the integer it is, none
// as null.
func (f figure) append(dst []byte) []byte {
	switch f.kind {
	case whole:
		return strconv.AppendInt(dst, f.whole, 10)
	case none:
		return append(dst, "null"...)
	}
	if f.real == math.Trunc(f.real) && math.Abs(f.real) < 1<<53 {
		return strconv.AppendInt(dst, int64(f.real), 10)
	}
	return strconv.AppendFloat(dst, f.real, 'g', -1, 64)
}

// tally collects the figures of a group. Only numbers count (DESIGN.md: 7);
// NaN and infinities, which JSON cannot tell, do not either.
type tally struct {
	integers int64   // their sum
	reals    float64 // the sum of all others, and of integers beyond 64 bits
	mixed    bool    // some were not integers
	count    int
	numbers  []repeated // where a median is asked for
}

// repeated is a number and how often it occurs: one of a record counts in every row that
// is made of it.
type repeated struct {
	number float64
	times  int
}

func (t *tally) add(v bson.RawValue) {
	var number float64
	switch v.Type {
	case bson.TypeInt32:
		number = float64(v.Int32())
		t.addInteger(int64(v.Int32()))
	case bson.TypeInt64:
		number = float64(v.Int64())
		t.addInteger(v.Int64())
	case bson.TypeDouble, bson.TypeDecimal128:
		var ok bool
		if number, ok = realOf(v); !ok {
			return
		}
		t.reals += number
		t.mixed = true
	default:
		return
	}
	t.note(number, 1)
}

// note counts a number. Where memory would have to grow, equal numbers are joined first.
func (t *tally) note(number float64, times int) {
	t.count += times
	if n := len(t.numbers); n > 0 && t.numbers[n-1].number == number {
		t.numbers[n-1].times += times
		return
	}
	if n := len(t.numbers); n >= 64 && n == cap(t.numbers) {
		t.order()
	}
	t.numbers = append(t.numbers, repeated{number, times})
}

// order sorts the numbers and joins those that are equal.
func (t *tally) order() {
	slices.SortFunc(t.numbers, func(a, b repeated) int { return cmp.Compare(a.number, b.number) })
	joined := t.numbers[:0]
	for _, r := range t.numbers {
		if n := len(joined); n > 0 && joined[n-1].number == r.number {
			joined[n-1].times += r.times
		} else {
			joined = append(joined, r)
		}
	}
	t.numbers = joined
}

func (t *tally) addInteger(n int64) {
	sum := t.integers + n
	if (sum > t.integers) != (n > 0) && n != 0 { // it went round
		t.reals += float64(n)
		t.mixed = true
		return
	}
	t.integers = sum
}

// realOf returns a double or decimal as a finite double.
func realOf(v bson.RawValue) (number float64, ok bool) {
	if d, isDouble := v.DoubleOK(); isDouble {
		return d, !math.IsNaN(d) && !math.IsInf(d, 0)
	}
	exact, _, err := big.ParseFloat(v.Decimal128().String(), 10, 128, big.ToNearestEven)
	if err != nil || exact.IsInf() {
		return 0, false // NaN among them
	}
	number, _ = exact.Float64()
	return number, !math.IsInf(number, 0)
}

// join adds what another tally has collected.
func (t *tally) join(other tally) {
	t.addInteger(other.integers)
	t.reals += other.reals
	t.mixed = t.mixed || other.mixed
	for _, r := range other.numbers {
		t.note(r.number, r.times)
	}
}

// sum is 0 where there are no numbers.
func (t *tally) sum() figure {
	if !t.mixed {
		return figure{kind: whole, whole: t.integers}
	}
	return figure{kind: real, real: float64(t.integers) + t.reals}
}

func (t *tally) mean() figure {
	if t.count == 0 {
		return figure{}
	}
	return figure{kind: real, real: t.sum().float() / float64(t.count)}
}

// median is the middle number, or the mean of the middle two (DESIGN.md: 18).
func (t *tally) median() figure {
	if t.count == 0 {
		return figure{}
	}
	t.order()
	low, high := t.at((t.count-1)/2), t.at(t.count/2)
	return figure{kind: real, real: low/2 + high/2}
}

// at returns a number by its place among the ordered ones.
func (t *tally) at(place int) float64 {
	for _, r := range t.numbers {
		if place -= r.times; place < 0 {
			return r.number
		}
	}
	return 0 // not reached: place is below count
}
