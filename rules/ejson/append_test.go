package ejson_test

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/ejson"
)

func TestAppend(t *testing.T) {
	const hex = "507f1f77bcf86cd799439011"
	date := func(s string) bson.DateTime {
		v, err := time.Parse(time.RFC3339Nano, s)
		require.NoError(t, err)
		return bson.NewDateTimeFromTime(v)
	}
	tests := map[string]struct {
		value any
		want  string
	}{
		"null":            {bson.Null{}, `null`},
		"true":            {true, `true`},
		"false":           {false, `false`},
		"int32":           {int32(math.MinInt32), `-2147483648`},
		"int64":           {int64(math.MaxInt64), `9223372036854775807`},
		"string":          {"a", `"a"`},
		"array":           {bson.A{1, "a", bson.A{}}, `[1,"a",[]]`},
		"document":        {bson.D{{Key: "b", Value: 1}, {Key: `"`, Value: bson.D{}}}, `{"b":1,"\"":{}}`},
		"whole double":    {1.0, `1.0`},
		"double":          {-1.25, `-1.25`},
		"minus zero":      {math.Copysign(0, -1), `-0.0`},
		"large double":    {1e20, `100000000000000000000.0`},
		"larger double":   {1e21, `1e+21`},
		"small double":    {0.000001, `0.000001`},
		"smaller double":  {1.5e-7, `1.5e-07`},
		"smallest double": {math.SmallestNonzeroFloat64, `5e-324`},
		"NaN":             {math.NaN(), `{"$numberDouble":"NaN"}`},
		"infinity":        {math.Inf(1), `{"$numberDouble":"Infinity"}`},
		"-infinity":       {math.Inf(-1), `{"$numberDouble":"-Infinity"}`},

		"object ID":         {objectID(t, hex), `{"$oid":"` + hex + `"}`},
		"date":              {date("2024-02-29T01:02:03Z"), `{"$date":"2024-02-29T01:02:03Z"}`},
		"date, ms":          {date("2024-02-29T01:02:03.040Z"), `{"$date":"2024-02-29T01:02:03.040Z"}`},
		"first date":        {bson.DateTime(0), `{"$date":"1970-01-01T00:00:00Z"}`},
		"date before first": {bson.DateTime(-1), `{"$date":{"$numberLong":"-1"}}`},
		"last date":         {date("9999-12-31T23:59:59.999Z"), `{"$date":"9999-12-31T23:59:59.999Z"}`},
		"date after last":   {date("9999-12-31T23:59:59.999Z") + 1, `{"$date":{"$numberLong":"253402300800000"}}`},
		"last of all dates": {bson.DateTime(math.MaxInt64), `{"$date":{"$numberLong":"9223372036854775807"}}`},
		"binary": {bson.Binary{Subtype: 0x80, Data: []byte{1, 2}},
			`{"$binary":{"base64":"AQI=","subType":"80"}}`},
		"old binary": {bson.Binary{Subtype: 2, Data: []byte{1, 2}},
			`{"$binary":{"base64":"AQI=","subType":"02"}}`},
		"old binary, empty": {bson.Binary{Subtype: 2, Data: []byte{}}, `{"$binary":{"base64":"","subType":"02"}}`},
		"regex": {bson.Regex{Pattern: `a"\d`, Options: "im"},
			`{"$regularExpression":{"pattern":"a\"\\d","options":"im"}}`},
		"timestamp": {bson.Timestamp{T: math.MaxUint32, I: 7}, `{"$timestamp":{"t":4294967295,"i":7}}`},
		"DBPointer": {bson.DBPointer{DB: "d.c", Pointer: objectID(t, hex)},
			`{"$dbPointer":{"$ref":"d.c","$id":{"$oid":"` + hex + `"}}}`},
		"symbol": {bson.Symbol("s"), `{"$symbol":"s"}`},
		"code":   {bson.JavaScript("f('\n')"), `{"$code":"f('\n')"}`},
		"code with scope": {bson.CodeWithScope{Code: "f", Scope: bson.D{{Key: "a", Value: 1}}},
			`{"$code":"f","$scope":{"a":1}}`},
		"undefined": {bson.Undefined{}, `{"$undefined":true}`},
		"min key":   {bson.MinKey{}, `{"$minKey":1}`},
		"max key":   {bson.MaxKey{}, `{"$maxKey":1}`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := ejson.Append([]byte("x"), marshal(t, tc.value))
			want := strings.ReplaceAll(tc.want, "\n", `\n`)
			assert.Equal(t, "x"+want, string(got))
		})
	}
}

func TestAppendDecimal(t *testing.T) {
	tests := map[string]string{ // from input to output
		"0":                                     "0",
		"-0":                                    "-0",
		"0.00":                                  "0.00",
		"0E+3":                                  "0E+3",
		"1":                                     "1",
		"-1.50":                                 "-1.50",
		"0.000001":                              "0.000001",
		"0.0000001":                             "1E-7",
		"0.00000012":                            "1.2E-7",
		"123E+2":                                "1.23E+4",
		"1E+6144":                               "1.000000000000000000000000000000000E+6144",
		"1E-6176":                               "1E-6176",
		"NaN":                                   "NaN",
		"Infinity":                              "Infinity",
		"-Infinity":                             "-Infinity",
		"18446744073.7":                         "18446744073.7",
		"9999999999999999999999999999999999":    "9999999999999999999999999999999999",
		"10000000000000000000000000000000.01":   "10000000000000000000000000000000.01",
		"-0.1234567890123456789012345678901234": "-0.1234567890123456789012345678901234",
	}
	for given, want := range tests {
		t.Run(given, func(t *testing.T) {
			got := ejson.Append(nil, marshal(t, decimal(t, given)))
			assert.Equal(t, `{"$numberDecimal":"`+want+`"}`, string(got))
		})
	}
	t.Run("a decimal of more than 34 digits must be zero", func(t *testing.T) {
		for _, high := range []uint64{0x3040_0000_0000_0000 | 1<<49 - 1, 0x6c10_0000_0000_0000} {
			got := ejson.Append(nil, marshal(t, bson.NewDecimal128(high, math.MaxUint64)))
			assert.Equal(t, `{"$numberDecimal":"0"}`, string(got))
		}
	})
}

func TestAppendString(t *testing.T) {
	tests := map[string]struct{ given, want string }{
		"empty":                {"", ``},
		"plain":                {"The quick brown fox jumps over it.", `The quick brown fox jumps over it.`},
		"quotes":               {`"`, `\"`},
		"markup":               {`<a href="/profile/x">A & B</a>`, `<a href=\"/profile/x\">A & B</a>`},
		"backslash":            {`a\b`, `a\\b`},
		"short escapes":        {"\b\f\n\r\t", `\b\f\n\r\t`},
		"other control":        {"\x00\x1f\x7f", `\u0000\u001f` + "\x7f"},
		"in each place":        {"1234567\n12345678\"123456789\\é", `1234567\n12345678\"123456789\\é`},
		"UTF-8":                {"Zoltán 漢字 😀", `Zoltán 漢字 😀`},
		"separators":           {"\u2028\u2029", "\u2028\u2029"},
		"replacement":          {"\ufffd", "\ufffd"},
		"invalid":              {"abc\xffdef\xc3", "abc\ufffddef\ufffd"},
		"invalid, many":        {"\xff\xfe", "\ufffd\ufffd"},
		"surrogate":            {"\xed\xa0\x80", "\ufffd\ufffd\ufffd"},
		"cut off by an escape": {"12345678\xe6\xbc\"é", "12345678\ufffd\ufffd\\\"é"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			want := `"` + tc.want + `"`
			assert.Equal(t, want, string(ejson.AppendString(nil, tc.given)))
			assert.Equal(t, want, string(ejson.AppendString(nil, []byte(tc.given))))
			assert.True(t, json.Valid([]byte(want)))
		})
	}
}

// TestAppendStringEachPosition puts each special byte at each position of texts of every length
// around eight bytes, which the writer checks in one step.
func TestAppendStringEachPosition(t *testing.T) {
	for size := range 26 {
		for at := range size {
			for _, c := range []byte{'"', '\\', 0, 0x1f, ' ', '!', '#', '[', ']', 0x7f, 0x80, 0xa2, 0xdc, 0xff} {
				s := []byte(strings.Repeat("x", size))
				s[at] = c
				want, err := json.Marshal(string(s))
				require.NoError(t, err)
				var wantText, gotText string
				require.NoError(t, json.Unmarshal(want, &wantText))
				require.NoError(t, json.Unmarshal(ejson.AppendString(nil, s), &gotText))
				require.Equal(t, wantText, gotText)
			}
		}
	}
}

func TestAppendBrokenBSON(t *testing.T) {
	doc := func(elements string) string {
		n := len(elements) + 5
		return string([]byte{byte(n), byte(n >> 8), byte(n >> 16), 0}) + elements + "\x00"
	}
	const ok = "\x10a\x00\x01\x00\x00\x00"
	tests := map[string]struct{ given, want string }{
		"nothing":                {"", `null`},
		"no length":              {"\x05\x00", `null`},
		"length too small":       {"\x04\x00\x00\x00\x00", `null`},
		"length negative":        {"\xff\xff\xff\xff\x00", `null`},
		"length too large":       {"\x06\x00\x00\x00\x00", `null`},
		"no NUL at its end":      {"\x05\x00\x00\x00\x01", `null`},
		"bytes after it":         {doc(ok) + "xyz", `{"a":1}`},
		"key without end":        {doc(ok + "\x10b"), `{"a":1}`},
		"value cut off":          {doc(ok + "\x10b\x00\x01\x00"), `{"a":1,"b":null}`},
		"unknown type":           {doc("\x42b\x00" + ok), `{"b":null}`},
		"type 0":                 {doc("\x00b\x00" + ok), `{"b":null}`},
		"string too long":        {doc("\x02b\x00\xff\x00\x00\x00x\x00" + ok), `{"b":null}`},
		"string of length 0":     {doc("\x02b\x00\x00\x00\x00\x00" + ok), `{"b":null}`},
		"string without NUL":     {doc("\x02b\x00\x01\x00\x00\x00x" + ok), `{"b":null}`},
		"document broken inside": {doc("\x03d\x00" + doc("\x10b\x00") + ok), `{"d":{"b":null},"a":1}`},
		"document too long":      {doc("\x03d\x00\xff\x00\x00\x00\x00" + ok), `{"d":null}`},
		"array broken inside": {doc("\x04d\x00" + doc("\x100\x00\x01\x00\x00\x00\x101\x00") + ok),
			`{"d":[1,null],"a":1}`},
		"array without keys": {doc("\x04d\x00" + doc("\x10\x00\x01\x00\x00\x00\x0a\x00")), `{"d":[1,null]}`},
		"binary too long":    {doc("\x05b\x00\x7f\x00\x00\x00\x00abc" + ok), `{"b":null}`},
		"binary negative":    {doc("\x05b\x00\xff\xff\xff\xff\x00abc" + ok), `{"b":null}`},
		"old binary, wrong length": {doc("\x05b\x00\x04\x00\x00\x00\x02\x01\x00\x00\x00" + ok),
			`{"b":{"$binary":{"base64":"AQAAAA==","subType":"02"}},"a":1}`},
		"old binary, no length": {doc("\x05b\x00\x01\x00\x00\x00\x02\x01" + ok),
			`{"b":{"$binary":{"base64":"AQ==","subType":"02"}},"a":1}`},
		"regex without options":     {doc("\x0bb\x00abc"), `{"b":null}`},
		"code with scope too short": {doc("\x0fb\x00\x04\x00\x00\x00" + ok), `{"b":null}`},
		"code with scope too long": {doc("\x0fb\x00\x10\x00\x00\x00\x02\x00\x00\x00f\x00" + doc("") + "\x00" + ok),
			`{"b":null}`},
		"DBPointer without ID":  {doc("\x0cb\x00\x02\x00\x00\x00f\x00abc"), `{"b":null}`},
		"boolean 2":             {doc("\x08b\x00\x02"), `{"b":true}`},
		"array key without end": {doc("\x04d\x00" + doc("\x0a0") + ok), `{"d":[],"a":1}`},
		"regex without end":     {doc("\x0bb\x00abc\x00i"), `{"b":null}`},
		"key not UTF-8":         {doc("\x0a\xff\x00"), "{\"\ufffd\":null}"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, string(ejson.AppendDocument(nil, bson.Raw(tc.given))))
			value := bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: []byte(tc.given)}
			assert.Equal(t, tc.want, string(ejson.Append(nil, value)))
		})
	}
}

func TestAppendBrokenValue(t *testing.T) {
	for _, v := range []bson.RawValue{{}, {Type: bson.TypeString}, {Type: 0x42, Value: []byte("abc")},
		{Type: bson.TypeInt64, Value: []byte("1234567")}} {
		assert.Equal(t, "null", string(ejson.Append(nil, v)))
	}
}

func TestAppendEndlessNesting(t *testing.T) {
	const levels = 1_000_000
	var doc []byte
	for below := levels; below > 0; below-- {
		doc = append(binary.LittleEndian.AppendUint32(doc, uint32(5+8*below)), 3, 'a', 0)
	}
	doc = append(doc, 5, 0, 0, 0, 0)
	doc = append(doc, make([]byte, levels)...)
	got := ejson.AppendDocument(nil, doc)
	assert.Equal(t, strings.Repeat(`{"a":`, 200)+"null"+strings.Repeat("}", 200), string(got))
}

func TestAppendKey(t *testing.T) {
	object := []byte("{")
	for _, key := range []string{"a", `"`} {
		object = append(ejson.AppendKey(object, key), '1')
	}
	if want := `{"a":1,"\"":1`; string(object) != want {
		t.Errorf("AppendKey writes %s, want %s", object, want)
	}
}
