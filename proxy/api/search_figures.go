package api

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/ejson"
	"vitrine/rules/raw"
)

// tally collects the numbers of a group. It ignores other values (DESIGN.md: 7), and NaN
// and infinities, which JSON does not have.
type tally struct {
	count    int
	integers int64           // the sum of integers
	reals    float64         // the sum of all others, and of integers beyond 64 bits
	mixed    bool            // some were not integers
	times    map[float64]int // how often each number occurs; nil unless the function is median
}

// add takes a value of a row.
func (t *tally) add(v bson.RawValue) {
	var number float64
	switch v.Type {
	case bson.TypeInt32, bson.TypeInt64:
		number = float64(raw.Int(v))
		t.addInteger(raw.Int(v))
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
	t.count++
	if t.times != nil {
		t.times[number]++
	}
}

// addInteger adds to the sum of integers as long as 64 bits hold it.
func (t *tally) addInteger(n int64) {
	sum := t.integers + n
	if (sum > t.integers) != (n > 0) && n != 0 { // the sum overflowed
		t.reals += float64(n)
		t.mixed = true
		return
	}
	t.integers = sum
}

// realOf returns a double or decimal as a finite double.
func realOf(v bson.RawValue) (number float64, ok bool) {
	number, isDouble := v.DoubleOK()
	if !isDouble {
		var err error
		if number, err = strconv.ParseFloat(v.Decimal128().String(), 64); err != nil {
			return 0, false
		}
	}
	return number, !math.IsNaN(number) && !math.IsInf(number, 0)
}

// join adds what another tally has collected.
func (t *tally) join(other tally) {
	t.count += other.count
	t.addInteger(other.integers)
	t.reals += other.reals
	t.mixed = t.mixed || other.mixed
	for number, times := range other.times {
		t.times[number] += times
	}
}

// sum is 0 where there are no numbers.
func (t *tally) sum() any {
	if !t.mixed {
		return t.integers
	}
	return float64(t.integers) + t.reals
}

// mean is nil where there are no numbers.
func (t *tally) mean() any {
	if t.count == 0 {
		return nil
	}
	return (float64(t.integers) + t.reals) / float64(t.count)
}

// median is the middle number, or the mean of the middle two (DESIGN.md: 18); nil where
// there are no numbers.
func (t *tally) median() any {
	if t.count == 0 {
		return nil
	}
	low, below := math.NaN(), 0
	for _, number := range slices.Sorted(maps.Keys(t.times)) {
		below += t.times[number]
		if math.IsNaN(low) && below > (t.count-1)/2 {
			low = number
		}
		if below > t.count/2 {
			return low/2 + number/2
		}
	}
	return nil // not reached: below is count at last
}

// figureOf returns an int64, a float64 or nil in BSON, which orders all of them.
func figureOf(number any) bson.RawValue {
	if number == nil {
		return bson.RawValue{Type: bson.TypeNull}
	}
	t, data, _ := bson.MarshalValue(number) // BSON has both types
	return bson.RawValue{Type: t, Value: data}
}

// appendFigure writes the outcome of an aggregate function, a whole one as the integer it
// is.
func appendFigure(dst []byte, figure bson.RawValue) []byte {
	f, isDouble := figure.DoubleOK()
	switch {
	case isDouble && isInteger(f):
		return strconv.AppendInt(dst, int64(f), 10)
	case isDouble && !math.IsInf(f, 0):
		return strconv.AppendFloat(dst, f, 'g', -1, 64)
	}
	return ejson.Append(dst, figure)
}
