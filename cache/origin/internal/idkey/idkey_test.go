package idkey_test

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"vitrine/cache/origin/internal/idkey"
	"vitrine/rules/raw"
)

// value encodes a value.
func value(t rapid.TB, v any) bson.RawValue {
	t.Helper()
	doc, err := bson.Marshal(bson.D{{Key: "v", Value: v}})
	if err != nil {
		t.Fatal(err)
	}
	return bson.Raw(doc).Lookup("v")
}

// key is the key of a value.
func key(t rapid.TB, v any) []byte {
	t.Helper()
	k, err := idkey.Of(value(t, v))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// decimal parses a Decimal128.
func decimal(s string) bson.Decimal128 {
	d, err := bson.ParseDecimal128(s)
	if err != nil {
		panic(err) // a typing error in this file
	}
	return d
}

// ascending lists ids in MongoDB's order; the ids in one row are equal.
var ascending = [][]any{
	{bson.MinKey{}},
	{nil},
	{math.NaN(), decimal("NaN")},
	{math.Inf(-1), decimal("-Infinity")},
	{-math.MaxFloat64},
	{decimal("-1E+30")},
	{int64(math.MinInt64), float64(math.MinInt64)},
	{int64(math.MinInt64 + 1)},
	{-10, -10.0, decimal("-10.00")},
	{-9.5},
	{-1},
	{-math.SmallestNonzeroFloat64},
	{0, int64(0), math.Copysign(0, -1), decimal("0E+3"), decimal("-0")},
	{decimal("1E-6176")},
	{math.SmallestNonzeroFloat64},
	{decimal("0.1")},
	{0.1}, // the double is a little more than a tenth
	{1, int64(1), 1.0, decimal("1.000")},
	{9},
	{10, decimal("1E+1")},
	{int64(1) << 53, float64(1 << 53)},
	{int64(1)<<53 + 1},
	{int64(math.MaxInt64)},
	{float64(1 << 63)},
	{1e300},
	{decimal("9.999E+6144")},
	{math.Inf(1), decimal("Infinity")},
	{"", bson.Symbol("")},
	{"\x00"},
	{"\x00\x01"},
	{"\x01"},
	{"a", bson.Symbol("a")},
	{"a\x00"},
	{"a\x00b"},
	{"aa"},
	{"ä"},
	{bson.D{}},
	{bson.D{{Key: "a", Value: 1}}, bson.D{{Key: "a", Value: 1.0}}},
	{bson.D{{Key: "a", Value: 1}, {Key: "a", Value: 1}}},
	{bson.D{{Key: "a", Value: 2}}},
	{bson.D{{Key: "b", Value: 1}}},
	{bson.D{{Key: "a", Value: "x"}}}, // MongoDB compares the type of the first field before its name
	{bson.Binary{}},
	{bson.Binary{Subtype: 4}},
	{bson.Binary{Data: []byte{9}}},
	{bson.Binary{Data: []byte{1, 0}}},
	{bson.ObjectID{}},
	{bson.ObjectID{1}},
	{false},
	{true},
	{bson.DateTime(math.MinInt64)},
	{bson.DateTime(-1)},
	{bson.DateTime(0)},
	{bson.DateTime(1)},
	{bson.Timestamp{I: 9}},
	{bson.Timestamp{T: 1}},
	{bson.Regex{Pattern: "a"}},
	{bson.Regex{Pattern: "a", Options: "i"}},
	{bson.DBPointer{DB: "a"}},
	{bson.JavaScript("a")},
	{bson.CodeWithScope{Code: "a", Scope: bson.D{}}},
	{bson.MaxKey{}},
}

func TestOrder(t *testing.T) {
	for i, row := range ascending {
		for _, a := range row {
			for j, other := range ascending {
				for _, b := range other {
					if got, want := bytes.Compare(key(t, a), key(t, b)), cmp.Compare(i, j); got != want {
						t.Errorf("compare %T %v with %T %v: %d, want %d", a, a, b, b, got, want)
					}
				}
			}
		}
	}
}

func TestPrefixFree(t *testing.T) {
	for i, row := range ascending {
		for j, other := range ascending {
			if i != j && bytes.HasPrefix(key(t, row[0]), key(t, other[0])) {
				t.Errorf("the key of %v begins with that of %v", row[0], other[0])
			}
		}
	}
}

// TestAgreesWithFilter compares the order of numbers and strings with that of the query language.
func TestAgreesWithFilter(t *testing.T) {
	scalar := rapid.OneOf(
		rapid.Map(rapid.Int32(), func(v int32) any { return v }),
		rapid.Map(rapid.Int64(), func(v int64) any { return v }),
		rapid.Map(rapid.Float64(), func(v float64) any { return v }),
		rapid.Map(rapid.Int64Range(-1000, 1000), func(v int64) any { return float64(v) / 8 }),
		rapid.Map(rapid.StringMatching(`-?[0-9]{1,20}(\.[0-9]{1,10})?(E-?[0-9]{1,2})?`),
			func(s string) any { return decimal(s) }),
		rapid.Map(rapid.StringOfN(rapid.RuneFrom([]rune("\x00\x01ab\u00ff\U0001F600")), 0, 5, -1),
			func(s string) any { return s }),
	)
	rapid.Check(t, func(t *rapid.T) {
		a, b := scalar.Draw(t, "a"), scalar.Draw(t, "b")
		got, want := bytes.Compare(key(t, a), key(t, b)), raw.Compare(value(t, a), value(t, b))
		if got != want {
			t.Errorf("compare %T %v with %T %v: %d, but %d in a filter", a, a, b, b, got, want)
		}
	})
}

func TestMalformed(t *testing.T) {
	for name, id := range map[string]bson.RawValue{
		"none":         {},
		"unknown type": {Type: 0x60},
		"short number": {Type: bson.TypeInt32, Value: []byte{1}},
		"short string": {Type: bson.TypeString, Value: []byte{9, 0, 0, 0, 'a', 0}},
		"bad boolean":  {Type: bson.TypeBoolean, Value: []byte{2}},
		"bad document": {Type: bson.TypeEmbeddedDocument, Value: []byte{7, 0, 0, 0, 0x60, 0, 0}},
	} {
		if k, err := idkey.Of(id); err == nil {
			t.Errorf("%s: key %x, want an error", name, k)
		}
	}
}

// FuzzOf takes arbitrary bytes as values of every type: Of does not panic, and gives the same key
// twice.
func FuzzOf(f *testing.F) {
	f.Add(byte(bson.TypeString), []byte{2, 0, 0, 0, 'a', 0})
	f.Add(byte(bson.TypeDecimal128), make([]byte, 16))
	f.Add(byte(bson.TypeCodeWithScope), []byte{5, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, kind byte, data []byte) {
		id := bson.RawValue{Type: bson.Type(kind), Value: data}
		first, err := idkey.Of(id)
		second, again := idkey.Of(id)
		if !slices.Equal(first, second) || (err == nil) != (again == nil) {
			t.Errorf("key %x, then %x", first, second)
		}
	})
}

// TestStoredBytes checks keys that stores already have on disk.
func TestStoredBytes(t *testing.T) {
	for want, v := range map[string]any{
		"01":                          bson.MinKey{},
		"03":                          nil,
		"0400":                        math.NaN(),
		"0401":                        math.Inf(-1),
		"04027ffefdff":                -10.0,
		"04027ffff5f9ff":              -9.5,
		"0403":                        decimal("-0"),
		"040467e00200":                decimal("1E-6176"),
		"04047fff0200":                decimal("0.1"),
		"040480000200":                int64(1),
		"0405":                        math.Inf(1),
		"056100ff0001":                "a\x00",
		"06046100010480000200" + "00": bson.D{{Key: "a", Value: 1}},
		"08000000010009":              bson.Binary{Data: []byte{9}},
		"09010000000000000000000000":  bson.ObjectID{1},
		"0a01":                        true,
		"0b7fffffffffffffff":          bson.DateTime(-1),
		"0c0000000100000000":          bson.Timestamp{T: 1},
		"0d61006900":                  bson.Regex{Pattern: "a", Options: "i"},
		"0e610001" + "0a" + zeros(11): bson.DBPointer{DB: "a", Pointer: bson.ObjectID{10}},
		"0f610001":                    bson.JavaScript("a"),
		"1061000100":                  bson.CodeWithScope{Code: "a", Scope: bson.D{}},
		"11":                          bson.MaxKey{},
	} {
		if got := hex.EncodeToString(key(t, v)); got != want {
			t.Errorf("the key of %T %v is %s, want %s", v, v, got, want)
		}
	}
}

// zeros returns n zero bytes in hexadecimal digits.
func zeros(n int) string { return strings.Repeat("00", n) }
