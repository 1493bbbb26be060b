package ejson_test

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"vitrine/rules/ejson"
)

// documents draws documents of every BSON type that relaxed Extended JSON keeps exactly: without an
// int64 that fits an int32, and without unusual bits of NaN.
func documents() *rapid.Generator[bson.D] { return documentsOf(3) }

func documentsOf(depth int) *rapid.Generator[bson.D] {
	return rapid.Custom(func(t *rapid.T) bson.D {
		keys := rapid.SliceOfNDistinct(keys(), 0, 8, rapid.ID[string]).Draw(t, "keys")
		doc := bson.D{}
		for _, key := range keys {
			doc = append(doc, bson.E{Key: key, Value: values(depth).Draw(t, "value")})
		}
		return doc
	})
}

// keys draws field names, except those that would turn a document into a wrapper.
func keys() *rapid.Generator[string] {
	names := rapid.OneOf(
		rapid.StringMatching(`[a-z_]{1,12}`), rapid.String(),
		rapid.SampledFrom([]string{"$gt", "$type", "$options", "$scope", "$ref", "$id"}))
	return rapid.Map(names, func(s string) string { return strings.ReplaceAll(s, "\x00", "") })
}

func values(depth int) *rapid.Generator[any] {
	scalars := []*rapid.Generator[any]{
		rapid.String().AsAny(),
		rapid.StringMatching(`[ -~é"\\]{0,40}`).AsAny(),
		rapid.Int32().AsAny(),
		rapid.Int64().Filter(func(i int64) bool { return i != int64(int32(i)) }).AsAny(),
		rapid.Float64().Filter(func(f float64) bool { return !math.IsNaN(f) }).AsAny(),
		rapid.Just(math.NaN()).AsAny(),
		rapid.Bool().AsAny(),
		rapid.Custom(drawDate).AsAny(),
		rapid.Custom(drawBinary).AsAny(),
		rapid.Custom(drawDecimal).AsAny(),
		rapid.Custom(drawRegex).AsAny(),
		rapid.Custom(drawObjectID).AsAny(),
		rapid.Custom(func(t *rapid.T) bson.Timestamp {
			return bson.Timestamp{T: rapid.Uint32().Draw(t, "t"), I: rapid.Uint32().Draw(t, "i")}
		}).AsAny(),
		rapid.Custom(func(t *rapid.T) bson.DBPointer {
			return bson.DBPointer{DB: rapid.StringMatching(`[a-z.]*`).Draw(t, "ref"), Pointer: drawObjectID(t)}
		}).AsAny(),
		rapid.Map(rapid.String(), func(s string) any { return bson.Symbol(s) }),
		rapid.Map(rapid.String(), func(s string) any { return bson.JavaScript(s) }),
		rapid.SampledFrom([]any{bson.Null{}, bson.Undefined{}, bson.MinKey{}, bson.MaxKey{}}),
	}
	if depth == 0 {
		return rapid.OneOf(scalars...)
	}
	return rapid.OneOf(append(scalars,
		rapid.Deferred(func() *rapid.Generator[any] { return documentsOf(depth - 1).AsAny() }),
		rapid.Deferred(func() *rapid.Generator[any] {
			return rapid.Map(rapid.SliceOfN(values(depth-1), 0, 12), func(a []any) any { return bson.A(a) })
		}),
		rapid.Custom(func(t *rapid.T) any {
			return bson.CodeWithScope{Code: bson.JavaScript(rapid.String().Draw(t, "code")),
				Scope: documentsOf(depth-1).Draw(t, "scope")}
		}))...)
}

func drawDate(t *rapid.T) bson.DateTime {
	const endOfISO = 253402300800000
	return bson.DateTime(rapid.OneOf(rapid.Int64Range(0, endOfISO-1), rapid.Int64()).Draw(t, "ms"))
}

// drawBinary draws no empty data of the old subtype, because the driver reads its inner length as
// data.
func drawBinary(t *rapid.T) bson.Binary {
	b := bson.Binary{Subtype: rapid.Byte().Draw(t, "subtype")}
	shortest := 0
	if b.Subtype == bson.TypeBinaryBinaryOld {
		shortest = 1
	}
	b.Data = rapid.SliceOfN(rapid.Byte(), shortest, 20).Draw(t, "data")
	return b
}

// drawDecimal draws a decimal of at most 34 digits, or an infinity.
func drawDecimal(t *rapid.T) bson.Decimal128 {
	if rapid.IntRange(0, 9).Draw(t, "infinite") == 0 {
		return bson.NewDecimal128(rapid.SampledFrom([]uint64{0x1e << 58, 0x3e << 58, 0x1f << 58}).Draw(t, "special"),
			0)
	}
	exponent := rapid.OneOf(rapid.Uint64Range(0, 12287), rapid.Uint64Range(6136, 6180)).Draw(t, "exponent")
	high := exponent<<49 | rapid.Uint64Range(0, 0x1ed09bead87c0-1).Draw(t, "high")
	return bson.NewDecimal128(high|rapid.Uint64Range(0, 1).Draw(t, "sign")<<63, rapid.Uint64().Draw(t, "low"))
}

func drawRegex(t *rapid.T) bson.Regex {
	options := []byte(rapid.StringMatching(`[imsux]{0,5}`).Draw(t, "options"))
	slices.Sort(options)
	pattern := strings.ReplaceAll(rapid.String().Draw(t, "pattern"), "\x00", "")
	return bson.Regex{Pattern: pattern, Options: string(options)}
}

func drawObjectID(t *rapid.T) bson.ObjectID {
	return bson.ObjectID(rapid.SliceOfN(rapid.Byte(), 12, 12).Draw(t, "id"))
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want, err := bson.Marshal(documents().Draw(t, "doc"))
		require.NoError(t, err)
		text := ejson.AppendDocument(nil, want)
		require.True(t, json.Valid(text), "%s", text)
		got, err := ejson.Parse(text, ejson.Options{})
		require.NoError(t, err, "%s", text)
		require.Equal(t, bson.Raw(want), got, "%s", text)
	})
}

// TestAgainstDriver writes with one side and reads with the other, in both directions.
func TestAgainstDriver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := documents().Draw(t, "doc")
		want, err := bson.Marshal(doc)
		require.NoError(t, err)
		for _, canonical := range []bool{true, false} {
			text, err := bson.MarshalExtJSON(doc, canonical, false)
			require.NoError(t, err)
			if !json.Valid(text) {
				continue // the driver does not escape the name in a DBPointer
			}
			got, err := ejson.Parse(text, ejson.Options{})
			require.NoError(t, err, "%s", text)
			require.Equal(t, bson.Raw(want), got, "%s", text)
		}
		if hasLone(doc, "$scope") {
			return // for the driver, $scope alone is a malformed wrapper
		}
		var back bson.D
		text := ejson.AppendDocument(nil, want)
		require.NoError(t, bson.UnmarshalExtJSON(text, false, &back), "%s", text)
		got, err := bson.Marshal(back)
		require.NoError(t, err)
		require.Equal(t, bson.Raw(want), bson.Raw(got), "%s", text)
	})
}

// hasLone reports whether an object in the value begins with the key.
func hasLone(v any, key string) bool {
	switch v := v.(type) {
	case bson.D:
		for i, e := range v {
			if i == 0 && e.Key == key || hasLone(e.Value, key) {
				return true
			}
		}
	case bson.A:
		return slices.ContainsFunc(v, func(e any) bool { return hasLone(e, key) })
	case bson.CodeWithScope:
		return hasLone(v.Scope, key)
	}
	return false
}

// TestSameTextAsDriver: our text equals the driver's, except for doubles with exponents, which the
// driver writes in capitals, dates with tenths, which it writes shorter, and the characters U+2028
// and U+2029, which it escapes.
func TestSameTextAsDriver(t *testing.T) {
	plain := rapid.StringMatching(`[ -~é\n\t]{0,20}`)
	fields := rapid.Custom(func(t *rapid.T) bson.D {
		return bson.D{
			{Key: plain.Draw(t, "key"), Value: plain.Draw(t, "string")},
			{Key: "int", Value: rapid.Int64().Draw(t, "int")},
			{Key: "double", Value: float64(rapid.IntRange(-9999, 9999).Draw(t, "double")) / 4},
			{Key: "date", Value: bson.DateTime(rapid.Int64Range(0, 4e9).Draw(t, "seconds") * 1000)},
			{Key: "id", Value: drawObjectID(t)},
			{Key: "binary", Value: drawBinary(t)},
			{Key: "decimal", Value: drawDecimal(t)},
			{Key: "regex", Value: bson.Regex{Pattern: plain.Draw(t, "pattern"), Options: "im"}},
			{Key: "list", Value: bson.A{nil, true, bson.MinKey{}, bson.Undefined{}, bson.Symbol("s")}},
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		doc := fields.Draw(t, "doc")
		data, err := bson.Marshal(doc)
		require.NoError(t, err)
		want, err := bson.MarshalExtJSON(doc, false, false)
		require.NoError(t, err)
		require.Equal(t, string(want), string(ejson.AppendDocument(nil, data)))
	})
}

// TestNumbersAgree: number texts of every kind are read as the driver and encoding/json read them.
func TestNumbersAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?[0-9]{1,21}(\.[0-9]{0,3})?([eE][+-]?[0-9]{0,3})?`).Draw(t, "number")
		got, err := parseValue([]byte(text), ejson.Options{})
		if !json.Valid([]byte(text)) {
			require.Error(t, err)
			return
		}
		var want bson.Raw
		if driverErr := bson.UnmarshalExtJSON([]byte(`{"n":`+text+`}`), false, &want); driverErr != nil {
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		number := want.Lookup("n")
		require.Equal(t, number.Type, got.Type)
		require.True(t, bytes.Equal(number.Value, got.Value), "%s", text)
	})
}

// TestRoundTripLosses lists every value that relaxed Extended JSON does not keep.
func TestRoundTripLosses(t *testing.T) {
	oddArray, err := bson.Marshal(bson.D{{Key: "x", Value: 1}, {Key: "x", Value: 2}})
	require.NoError(t, err)
	tests := map[string]struct{ given, want bson.RawValue }{
		"an int64 that fits an int32": {marshal(t, int64(7)), marshal(t, int32(7))},
		"a NaN of other bits":         {marshal(t, math.Float64frombits(0xfff8000000000123)), marshal(t, math.NaN())},
		"the keys of an array": {bson.RawValue{Type: bson.TypeArray, Value: oddArray},
			marshal(t, bson.A{1, 2})},
		"options out of order": {bson.RawValue{Type: bson.TypeRegex, Value: []byte("a\x00mi\x00")},
			marshal(t, bson.Regex{Pattern: "a", Options: "im"})},
		"bytes that are no UTF-8":   {marshal(t, bson.Symbol("a\xff")), marshal(t, bson.Symbol("a\ufffd"))},
		"a boolean that is neither": {bson.RawValue{Type: bson.TypeBoolean, Value: []byte{2}}, marshal(t, true)},
		"a document like a wrapper": {marshal(t, bson.D{{Key: "$symbol", Value: "s"}}),
			marshal(t, bson.Symbol("s"))},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parseValue(ejson.Append(nil, tc.given), ejson.Options{})
			require.NoError(t, err)
			require.Equal(t, tc.want, got)
		})
	}
}
