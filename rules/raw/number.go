package raw

import (
	"cmp"
	"encoding/binary"
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// IsNumber reports whether t is one of BSON's four number types.
func IsNumber(t bson.Type) bool {
	return t == bson.TypeInt32 || t == bson.TypeInt64 || t == bson.TypeDouble || t == bson.TypeDecimal128
}

// Uint64 returns the first eight bytes of a value as an integer; 0 if there are fewer.
func Uint64(b []byte) uint64 {
	if len(b) < 8 {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

// Int returns the value of an int32 or int64.
func Int(v bson.RawValue) int64 {
	if v.Type == bson.TypeInt64 {
		return int64(Uint64(v.Value))
	}
	if len(v.Value) < 4 {
		return 0
	}
	return int64(int32(binary.LittleEndian.Uint32(v.Value)))
}

// Double returns the value of a double.
func Double(v bson.RawValue) float64 { return math.Float64frombits(Uint64(v.Value)) }

// IsNaN reports whether v is a double or decimal128 NaN.
func IsNaN(v bson.RawValue) bool {
	switch v.Type {
	case bson.TypeDouble:
		return math.IsNaN(Double(v))
	case bson.TypeDecimal128:
		return NumberOf(v).Kind == NumberNaN
	}
	return false
}

// compareNumbers orders numbers of any types exactly. NaN equals NaN and is smaller than all others.
func compareNumbers(a, b bson.RawValue) int {
	switch {
	case a.Type == bson.TypeDecimal128 || b.Type == bson.TypeDecimal128:
		return NumberOf(a).Compare(NumberOf(b))
	case a.Type == bson.TypeDouble && b.Type == bson.TypeDouble:
		return cmp.Compare(Double(a), Double(b))
	case a.Type == bson.TypeDouble:
		return -compareIntDouble(Int(b), Double(a))
	case b.Type == bson.TypeDouble:
		return compareIntDouble(Int(a), Double(b))
	}
	return cmp.Compare(Int(a), Int(b))
}

// compareIntDouble orders an integer and a double without rounding the integer.
func compareIntDouble(i int64, d float64) int {
	c := cmp.Compare(float64(i), d) // rounding may make them equal, but never reverses the order
	if c != 0 {
		return c
	}
	if d == 1<<63 { // greater than any int64
		return -1
	}
	return cmp.Compare(i, int64(d))
}

// Truncate returns a number's integral part as an int64, and whether the number is integral. ok is
// false for NaN, infinities and numbers that exceed 64 bits.
func Truncate(v bson.RawValue) (n int64, integral, ok bool) {
	switch v.Type {
	case bson.TypeInt32, bson.TypeInt64:
		return Int(v), true, true
	case bson.TypeDouble:
		d := Double(v)
		if math.IsNaN(d) || d >= 1<<63 || d < -1<<63 {
			return 0, false, false
		}
		return int64(d), d == math.Trunc(d), true
	case bson.TypeDecimal128:
		return NumberOf(v).truncate()
	}
	return 0, false, false
}

// Truth returns MongoDB's truth value: false, zeros, null, undefined and missing values are false.
func Truth(v bson.RawValue) bool {
	switch BracketOf(v.Type) {
	case BracketMissing, BracketNull:
		return false
	case BracketBoolean:
		return len(v.Value) > 0 && v.Value[0] != 0
	case BracketNumber:
		return compareNumbers(v, bson.RawValue{Type: bson.TypeInt32, Value: []byte{0, 0, 0, 0}}) != 0
	}
	return true
}
