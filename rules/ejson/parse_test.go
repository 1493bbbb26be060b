package ejson_test

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/ejson"
)

// marshal returns the driver's encoding of a Go value.
func marshal(t testing.TB, v any) bson.RawValue {
	t.Helper()
	kind, data, err := bson.MarshalValue(v)
	require.NoError(t, err)
	return bson.RawValue{Type: kind, Value: data}
}

func objectID(t testing.TB, hex string) bson.ObjectID {
	t.Helper()
	id, err := bson.ObjectIDFromHex(hex)
	require.NoError(t, err)
	return id
}

func decimal(t testing.TB, s string) bson.Decimal128 {
	t.Helper()
	d, err := bson.ParseDecimal128(s)
	require.NoError(t, err)
	return d
}

func TestParseValue(t *testing.T) {
	const hex = "507f1f77bcf86cd799439011"
	id := objectID(t, hex)
	uuid := bson.Binary{Subtype: 4, Data: []byte("\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff")}
	tests := map[string]struct {
		json string
		want any
	}{
		"null":                     {`null`, bson.Null{}},
		"true":                     {`true`, true},
		"false":                    {` false `, false},
		"string":                   {`"a b"`, "a b"},
		"string of eight and more": {`"0123456789 \"quoted\" 0123456789"`, `0123456789 "quoted" 0123456789`},
		"string in UTF-8":          {`"Zoltán 漢字 😀"`, "Zoltán 漢字 😀"},
		"all short escapes":        {`"\"\\\/\b\f\n\r\t"`, "\"\\/\b\f\n\r\t"},
		"unicode escape":           {`"\u00e9\u00C9"`, "éÉ"},
		"surrogate pair":           {`"x\ud83d\ude00y"`, "x😀y"},
		"NUL in a string":          {`"a\u0000b"`, "a\x00b"},
		"DEL and separators":       {"\"\x7f\u2028\u2029\"", "\x7f\u2028\u2029"},

		"zero":                 {`0`, int32(0)},
		"minus zero":           {`-0`, int32(0)},
		"int32 at its end":     {`2147483647`, int32(math.MaxInt32)},
		"int32 at its start":   {`-2147483648`, int32(math.MinInt32)},
		"first int64":          {`2147483648`, int64(math.MaxInt32 + 1)},
		"int64 at its end":     {`9223372036854775807`, int64(math.MaxInt64)},
		"int64 at its start":   {`-9223372036854775808`, int64(math.MinInt64)},
		"beyond int64":         {`9223372036854775808`, 9223372036854775808.0},
		"far beyond int64":     {`1` + strings.Repeat("0", 40), 1e40},
		"with fraction":        {`1.0`, 1.0},
		"with exponent":        {`1e2`, 100.0},
		"with all":             {`-12.5E-1`, -1.25},
		"minus zero as double": {`-0.0`, math.Copysign(0, -1)},
		"too small":            {`1e-400`, 0.0},

		"empty array": {`[ ]`, bson.A{}},
		"array": {`[1,"a",[null],{"b":true}]`,
			bson.A{int32(1), "a", bson.A{nil}, bson.D{{Key: "b", Value: true}}}},
		"array of many": {`[0,1,2,3,4,5,6,7,8,9,10]`, bson.A{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
		"empty object":  {`{ }`, bson.D{}},
		"order of keys": {`{"b":1,"a":2,"":3}`,
			bson.D{{Key: "b", Value: 1}, {Key: "a", Value: 2}, {Key: "", Value: 3}}},
		"white space":    {" \t\r\n{ \"a\" : [ 1 , 2 ] }\n", bson.D{{Key: "a", Value: bson.A{1, 2}}}},
		"escape in keys": {`{"\u0061\"":1}`, bson.D{{Key: `a"`, Value: 1}}},
		"same key apart": {`{"a":{"a":1},"b":{"a":2}}`, bson.D{
			{Key: "a", Value: bson.D{{Key: "a", Value: 1}}}, {Key: "b", Value: bson.D{{Key: "a", Value: 2}}}}},

		"$oid":                     {`{"$oid":"` + hex + `"}`, id},
		"$oid in capitals":         {`{"$oid":"` + strings.ToUpper(hex) + `"}`, id},
		"$numberInt":               {`{"$numberInt":"-5"}`, int32(-5)},
		"$numberLong":              {`{"$numberLong":"5"}`, int64(5)},
		"$numberDouble":            {`{"$numberDouble":"5"}`, 5.0},
		"$numberDouble, tiny":      {`{"$numberDouble":"-1.5E-10"}`, -1.5e-10},
		"$numberDouble, infinite":  {`{"$numberDouble":"Infinity"}`, math.Inf(1)},
		"$numberDouble, -infinite": {`{"$numberDouble":"-Infinity"}`, math.Inf(-1)},
		"$numberDouble, NaN":       {`{"$numberDouble":"NaN"}`, math.NaN()},
		"$numberDecimal":           {`{"$numberDecimal":"-1.50E+3"}`, decimal(t, "-1.50E+3")},
		"$numberDecimal, NaN":      {`{"$numberDecimal":"NaN"}`, decimal(t, "NaN")},
		"$binary": {`{"$binary":{"base64":"AQI=","subType":"80"}}`,
			bson.Binary{Subtype: 0x80, Data: []byte{1, 2}}},
		"$binary turned": {`{"$binary":{"subType":"0","base64":""}}`, bson.Binary{Data: []byte{}}},
		"$binary of old subtype": {`{"$binary":{"base64":"AQI=","subType":"02"}}`,
			bson.Binary{Subtype: 2, Data: []byte{1, 2}}},
		"$binary, old and empty": {`{"$binary":{"base64":"","subType":"02"}}`,
			bson.Binary{Subtype: 2, Data: []byte{}}},
		"$binary of version 1":    {`{"$binary":"AQI=","$type":"05"}`, bson.Binary{Subtype: 5, Data: []byte{1, 2}}},
		"$binary of v. 1, turned": {`{"$type":"05","$binary":"AQI="}`, bson.Binary{Subtype: 5, Data: []byte{1, 2}}},
		"$uuid":                   {`{"$uuid":"00112233-4455-6677-8899-AABBccddeeff"}`, uuid},
		"$regularExpression": {`{"$regularExpression":{"pattern":"a\"b","options":"mi"}}`,
			bson.Regex{Pattern: `a"b`, Options: "im"}},
		"$timestamp": {`{"$timestamp":{"t":4294967295,"i":1}}`,
			bson.Timestamp{T: math.MaxUint32, I: 1}},
		"$timestamp, turned": {`{"$timestamp":{"i":2,"t":1}}`, bson.Timestamp{T: 1, I: 2}},
		"$minKey":            {`{"$minKey":1}`, bson.MinKey{}},
		"$maxKey":            {`{"$maxKey":1}`, bson.MaxKey{}},
		"$undefined":         {`{"$undefined":true}`, bson.Undefined{}},
		"$symbol":            {`{"$symbol":"s"}`, bson.Symbol("s")},
		"$code":              {`{"$code":"f()"}`, bson.JavaScript("f()")},
		"$code with $scope": {`{"$code":"f()","$scope":{"a":{"$numberLong":"1"}}}`,
			bson.CodeWithScope{Code: "f()", Scope: bson.D{{Key: "a", Value: int64(1)}}}},
		"$scope with $code": {`{"$scope":{},"$code":"f()"}`, bson.CodeWithScope{Code: "f()", Scope: bson.D{}}},
		"$dbPointer": {`{"$dbPointer":{"$ref":"db.c","$id":{"$oid":"` + hex + `"}}}`,
			bson.DBPointer{DB: "db.c", Pointer: id}},
		"wrapper with escapes": {`{"\u0024oid" : "` + hex + `" }`, id},
		"wrappers in an array": {`[{"$oid":"` + hex + `"},{"$minKey":1},1]`, bson.A{id, bson.MinKey{}, 1}},

		"a wrapper and more": {`{"$oid":"x","a":1}`, bson.D{{Key: "$oid", Value: "x"}, {Key: "a", Value: 1}}},
		"more and a wrapper": {`{"a":1,"$oid":"x"}`, bson.D{{Key: "a", Value: 1}, {Key: "$oid", Value: "x"}}},
		"$type alone":        {`{"$type":"string"}`, bson.D{{Key: "$type", Value: "string"}}},
		"$scope alone":       {`{"$scope":{}}`, bson.D{{Key: "$scope", Value: bson.D{}}}},
		"operators": {`{"$gt":1,"$lt":{"$numberLong":"2"}}`,
			bson.D{{Key: "$gt", Value: 1}, {Key: "$lt", Value: int64(2)}}},
		"$regex is an operator": {`{"$regex":"a","$options":"i"}`,
			bson.D{{Key: "$regex", Value: "a"}, {Key: "$options", Value: "i"}}},
		"$regex alone is one too": {`{"$regex":"a"}`, bson.D{{Key: "$regex", Value: "a"}}},
		"a reference of version 1": {`{"$ref":"c","$id":{"$oid":"` + hex + `"}}`,
			bson.D{{Key: "$ref", Value: "c"}, {Key: "$id", Value: id}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parseValue([]byte(tc.json), ejson.Options{})
			require.NoError(t, err)
			require.NoError(t, got.Validate())
			want := marshal(t, tc.want)
			assert.Equal(t, want.Type, got.Type)
			assert.Equal(t, want.Value, got.Value)
		})
	}
}

func TestParseDates(t *testing.T) {
	at := func(s string) int64 {
		v, err := time.Parse(time.RFC3339Nano, s)
		require.NoError(t, err)
		return v.UnixMilli()
	}
	tests := map[string]struct {
		date string // as JSON
		want int64
	}{
		"seconds":             {`"2024-02-29T12:34:56Z"`, at("2024-02-29T12:34:56Z")},
		"milliseconds":        {`"2024-02-29T12:34:56.789Z"`, at("2024-02-29T12:34:56.789Z")},
		"tenths":              {`"2024-02-29T12:34:56.7Z"`, at("2024-02-29T12:34:56.7Z")},
		"nanoseconds are cut": {`"2024-02-29T12:34:56.789999999Z"`, at("2024-02-29T12:34:56.789Z")},
		"zone with colon":     {`"2024-02-29T12:34:56+05:30"`, at("2024-02-29T12:34:56+05:30")},
		"zone without colon":  {`"2014-03-17T21:17:46.000-0430"`, at("2014-03-17T21:17:46-04:30")},
		"zone of hours":       {`"2024-02-29T12:34:56+02"`, at("2024-02-29T12:34:56+02:00")},
		"no seconds":          {`"2024-02-29T12:34Z"`, at("2024-02-29T12:34:00Z")},
		"a day alone":         {`"2024-02-29"`, at("2024-02-29T00:00:00Z")},
		"before 1970":         {`"1969-12-31T23:59:59.500Z"`, -500},
		"the year 0":          {`"0000-01-01T00:00:00Z"`, at("0000-01-01T00:00:00Z")},
		"the last one":        {`"9999-12-31T23:59:59.999Z"`, at("9999-12-31T23:59:59.999Z")},
		"$numberLong":         {`{"$numberLong":"-1"}`, -1},
		"$numberInt":          {`{"$numberInt":"7"}`, 7},
		"small number":        {`123`, 123},
		"large number":        {`1700000000000`, 1700000000000},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parseValue([]byte(`{"$date":`+tc.date+`}`), ejson.Options{})
			require.NoError(t, err)
			assert.Equal(t, bson.TypeDateTime, got.Type)
			assert.Equal(t, tc.want, got.DateTime())
		})
	}
}

func TestParseKeepsTheOutermostObject(t *testing.T) {
	got, err := ejson.Parse([]byte(`{"$oid":"x"}`), ejson.Options{})
	require.NoError(t, err)
	want, err := bson.Marshal(bson.D{{Key: "$oid", Value: "x"}})
	require.NoError(t, err)
	assert.Equal(t, bson.Raw(want), got)
}

func TestParseRegexValues(t *testing.T) {
	tests := map[string]struct {
		json string
		want any
	}{
		"pattern and options": {`{"$regex":"a.b","$options":"xi"}`, bson.Regex{Pattern: "a.b", Options: "ix"}},
		"options and pattern": {`{"$options":"","$regex":"a.b"}`, bson.Regex{Pattern: "a.b"}},
		"pattern alone":       {`{"$regex":"a.b"}`, bson.Regex{Pattern: "a.b"}},
		"not a string": {`{"$regex":1,"$options":""}`,
			bson.D{{Key: "$regex", Value: 1}, {Key: "$options", Value: ""}}},
		"options not a string": {`{"$regex":"a","$options":1}`,
			bson.D{{Key: "$regex", Value: "a"}, {Key: "$options", Value: 1}}},
		"something beside it": {`{"$regex":"a","x":"i"}`,
			bson.D{{Key: "$regex", Value: "a"}, {Key: "x", Value: "i"}}},
		"an empty key beside": {`{"$regex":"a","":"i"}`, bson.D{{Key: "$regex", Value: "a"}, {Key: "", Value: "i"}}},
		"options alone":       {`{"$options":"i"}`, bson.D{{Key: "$options", Value: "i"}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parseValue([]byte(tc.json), ejson.Options{RegexValues: true})
			require.NoError(t, err)
			want := marshal(t, tc.want)
			assert.Equal(t, want, bson.RawValue{Type: got.Type, Value: got.Value})
		})
	}
}

func TestParseErrors(t *testing.T) {
	tests := map[string]struct {
		json   string
		offset int
		reason string // part of it
	}{
		"nothing":              {``, 0, "ends where an object should be"},
		"white space alone":    {"  \n", 3, "ends where an object"},
		"an array":             {`[1]`, 0, "found '[' where an object"},
		"a string":             {`"a"`, 0, "an object"},
		"byte order mark":      {"\ufeff{}", 0, "byte order mark"},
		"something after":      {`{} {}`, 3, "found '{' where nothing more"},
		"a NUL after":          {"{}\x00", 2, `found '\x00'`},
		"a broken byte after":  {"{}\xff", 2, "found byte 0xff"},
		"no end":               {`{"a":1`, 6, "ends where ',' or '}'"},
		"no value":             {`{"a":`, 5, "ends where a value"},
		"no colon":             {`{"a" 1}`, 5, "found '1' where ':'"},
		"no comma":             {`{"a":1 "b":2}`, 7, "',' or '}'"},
		"a comma too many":     {`{"a":1,}`, 7, "another key"},
		"a comma at first":     {`{,"a":1}`, 1, "a key in double quotes"},
		"key without quotes":   {`{a:1}`, 1, "found 'a' where a key in double quotes"},
		"key in single quotes": {`{'a':1}`, 1, "a key in double quotes"},
		"array without end":    {`{"a":[1`, 7, "ends where ',' or ']'"},
		"array, comma":         {`{"a":[1,]}`, 8, "another value"},
		"array, two commas":    {`{"a":[1,,2]}`, 8, "a value"},
		"array closed wrongly": {`{"a":[1}`, 7, "found '}' where ',' or ']'"},
		"object closed so":     {`{"a":1]`, 6, "found ']' where ',' or '}'"},
		"unknown word":         {`{"a":nul}`, 5, "found 'n' where a value"},
		"a word's longer form": {`{"a":nullx}`, 9, "found 'x'"},
		"capitals":             {`{"a":True}`, 5, "a value"},
		"NaN":                  {`{"a":NaN}`, 5, "a value"},
		"a comment":            {`{/**/}`, 1, "a key"},

		"leading zero":       {`{"a":01}`, 6, "found '1'"},
		"leading plus":       {`{"a":+1}`, 5, "a value"},
		"a minus alone":      {`{"a":-}`, 6, "found '}' where a digit"},
		"a point alone":      {`{"a":1.}`, 7, "found '}' where a digit"},
		"no whole part":      {`{"a":.5}`, 5, "a value"},
		"no exponent":        {`{"a":1e+}`, 8, "found '}' where a digit"},
		"hexadecimal":        {`{"a":0x1}`, 6, "found 'x'"},
		"too large":          {`{"a":1e400}`, 5, "too large"},
		"number at the end":  {`{"a":-`, 6, "ends where a digit"},
		"string without end": {`{"a":"b`, 5, "does not end"},
		"escape at the end":  {`{"a":"b\`, 7, "does not end"},
		"unknown escape":     {`{"a":"\x41"}`, 6, "unknown escape"},
		"short \\u":          {`{"a":"\u12"}`, 6, "four hexadecimal digits"},
		"wrong \\u":          {`{"a":"\u12g4"}`, 6, "four hexadecimal digits"},
		"\\u at the end":     {`{"a":"\u`, 6, "four hexadecimal digits"},
		"high surrogate":     {`{"a":"x\ud800y"}`, 7, "surrogate"},
		"low surrogate":      {`{"a":"\udc00"}`, 6, "surrogate"},
		"surrogates turned":  {`{"a":"\ude00\ud83d"}`, 6, "surrogate"},
		"surrogate and \\u":  {`{"a":"\ud83d\u0041"}`, 6, "surrogate"},
		"surrogate, raw":     {"{\"a\":\"\xed\xa0\x80\"}", 6, "not valid UTF-8"},
		"invalid UTF-8":      {"{\"a\":\"é\xffb\"}", 8, "not valid UTF-8"},
		"UTF-8 cut off":      {"{\"a\":\"b\xc3\"}", 7, "not valid UTF-8"},
		"overlong":           {"{\"a\":\"\xc0\xaf\"}", 6, "not valid UTF-8"},
		"invalid key":        {"{\"\xff\":1}", 2, "not valid UTF-8"},
		"new line in string": {"{\"a\":\"b\nc\"}", 7, "control character 0x0a"},
		"NUL in a key":       {`{"a\u0000b":1}`, 1, "must not contain"},
		"a key twice":        {`{"a":1,"b":2,"a":3}`, 13, `key "a" is there twice`},
		"twice, written so":  {`{"a":1,"\u0061":3}`, 7, `key "a" is there twice`},
		"twice further down": {`{"x":[{"a":1,"a":2}]}`, 13, `key "a" is there twice`},
		"twice the empty":    {`{"":1,"":2}`, 6, `key "" is there twice`},
		"twice in a wrapper": {`{"x":{"$oid":"a","$oid":"b"}}`, 17, `key "$oid" is there twice`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			doc, err := ejson.Parse([]byte(tc.json), ejson.Options{Param: "json"})
			assert.Nil(t, doc)
			requireWrong(t, err, tc.offset, tc.reason)
		})
	}
}

// requireWrong checks that Parse returned an error for the parameter "json".
func requireWrong(t *testing.T, err error, offset int, reason string) {
	t.Helper()
	require.ErrorIs(t, err, rules.ErrWrongCall)
	var wrong *rules.Error
	require.True(t, errors.As(err, &wrong))
	assert.Equal(t, "json", wrong.Param)
	assert.Equal(t, "offset "+strconv.Itoa(offset), wrong.Where)
	assert.Contains(t, wrong.Reason, reason)
}

func TestParseMalformedWrappers(t *testing.T) {
	tests := map[string][]string{
		"$oid": {`""`, `"507f1f77bcf86cd79943901"`, `"507f1f77bcf86cd79943901g"`, `1`, `null`,
			`{"$symbol":"507f1f77bcf86cd799439011"}`},
		"$numberInt":    {`5`, `"5.0"`, `"2147483648"`, `""`, `"x"`},
		"$numberLong":   {`5`, `"5.0"`, `"9223372036854775808"`, `""`, `" 5"`},
		"$numberDouble": {`5`, `""`, `"inf"`, `"nan"`, `"0x1p2"`, `"1e999"`, `"1_0"`, `"--1"`, `"+Infinity"`},
		"$numberDecimal": {`5`, `""`, `"x"`, `"1E"`, `"12345678901234567890123456789012345"`, `"1E9999999"`,
			`"1` + strings.Repeat("0", 200) + `"`},
		"$date": {`1.5`, `true`, `null`, `{}`, `{"$date":1}`, `{"$numberDouble":"1"}`, `""`, `"2024"`,
			`"2024-13-01"`, `"2024-00-01"`, `"2024-04-31"`, `"2023-02-29T00:00:00Z"`, `"2024-04-01T24:00:00Z"`,
			`"2024-04-01T00:60:00Z"`, `"2024-04-01T00:00:60Z"`, `"2024-04-01T00:00:00"`, `"2024-04-01T00:00:00.Z"`,
			`"2024-04-01T00:00:00z"`, `"2024-04-01T3:00:00Z"`, `"2024-04-01T00:00:00,5Z"`, `"2024-04-01T00:00:00-24"`,
			`"2024-04-01T00:00:00+0060"`, `"2024-04-01T00:00:00+1"`, `"2024-04-01T00:00:00+0160"`,
			`"2024-04-01T00:00:00+01:60"`, `"2024-04-01T00:00:00+24:00"`, `"2024-04-01T00:00:00Z "`,
			`"2024-04-01 00:00:00Z"`, `"2024-04-01T"`, `"2024-4-1"`, `"10000-01-01"`},
		"$binary": {`1`, `"AQI="`, `{}`, `{"base64":"AQI="}`, `{"base64":"AQI=","subType":"00","x":1}`,
			`{"base64":"AQI","subType":"00"}`, `{"base64":"??","subType":"00"}`, `{"base64":1,"subType":"00"}`,
			`{"base64":"","subType":0}`, `{"base64":"","subType":"100"}`, `{"base64":"","subType":""}`,
			`{"base64":"","subType":"g"}`, `{"base64":"","type":"00"}`},
		"$uuid": {`1`, `""`, `"00112233445566778899aabbccddeeff"`,
			`"00112233-4455-6677-8899-aabbccddeefg"`, `"0011223-34455-6677-8899-aabbccddeeff"`},
		"$regularExpression": {`"a"`, `{"pattern":"a"}`, `{"pattern":"a","options":1}`, `{"pattern":1,"options":""}`,
			`{"pattern":"a","options":"","x":1}`, `{"pattern":"a\u0000","options":""}`,
			`{"pattern":"a","options":"i\u0000"}`},
		"$timestamp": {`1`, `{}`, `{"t":1}`, `{"t":1,"i":-1}`, `{"t":4294967296,"i":1}`,
			`{"t":-2147483649,"i":1}`, `{"t":1.0,"i":1}`, `{"t":1,"i":1,"x":1}`, `{"t":1,"x":1}`},
		"$dbPointer": {`1`, `{"$ref":"a"}`, `{"$ref":1,"$id":{"$oid":"507f1f77bcf86cd799439011"}}`,
			`{"$ref":"a","$id":"b"}`},
		"$symbol":    {`1`, `null`},
		"$code":      {`1`, `"f()","$scope":1`, `"f()","$scope":[]`, `1,"$scope":{}`},
		"$minKey":    {`0`, `2`, `"1"`, `1.0`, `true`},
		"$maxKey":    {`0`, `-1`, `4294967297`},
		"$undefined": {`false`, `1`, `null`},
	}
	for key, values := range tests {
		for _, value := range values {
			t.Run(key+" "+value, func(t *testing.T) {
				doc, err := ejson.Parse([]byte(`{"a": {"`+key+`":`+value+`}}`), ejson.Options{Param: "json"})
				assert.Nil(t, doc)
				requireWrong(t, err, 6, key+": ")
			})
		}
	}
	t.Run("$binary of version 1", func(t *testing.T) {
		for _, rest := range []string{`"AQI=","$type":5`, `"AQI=","$type":"x"`, `1,"$type":"00"`,
			`{"base64":"","subType":"00"},"$type":"00"`} {
			_, err := parseValue([]byte(`{"$binary":`+rest+`}`), ejson.Options{Param: "json"})
			requireWrong(t, err, 5, "$binary: ")
		}
	})
}

func TestParseLimits(t *testing.T) {
	nested := func(n int) string {
		return strings.Repeat(`{"a":[`, n/2) + strings.Repeat(`]}`, n/2)
	}
	tests := map[string]struct {
		json string
		opts ejson.Options
		want string // part of the error; empty: none
	}{
		"depth by default":       {nested(100), ejson.Options{}, ""},
		"deeper than by default": {nested(102), ejson.Options{}, "deeper than 100 levels"},
		"depth set":              {nested(4), ejson.Options{MaxDepth: 4}, ""},
		"deeper than set": {nested(6), ejson.Options{MaxDepth: 4},
			"offset 12: nests deeper than 4 levels"},
		"array deeper than set": {nested(6), ejson.Options{MaxDepth: 3},
			"offset 11: nests deeper than 3 levels"},
		"a million brackets": {`{"a":` + strings.Repeat("[", 1<<20), ejson.Options{},
			"deeper than 100 levels"},
		"as long as allowed": {`{"a":1}`, ejson.Options{MaxBytes: 7}, ""},
		"longer than allowed": {`{"a":12}`, ejson.Options{MaxBytes: 7, Param: "json"},
			"json: is 8 bytes long, 7 are allowed"},
		"white space counts as well": {`{"a":1} `, ejson.Options{MaxBytes: 7}, "8 bytes"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := ejson.Parse([]byte(tc.json), tc.opts)
			if tc.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, rules.ErrWrongCall)
			assert.Contains(t, err.Error(), tc.want)
		})
	}
}

func TestParseManyKeys(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"first":0`)
	for i := range 20000 {
		b.WriteString(`,"k` + strconv.Itoa(i) + `":0`)
	}
	doc, err := ejson.Parse([]byte(b.String()+`}`), ejson.Options{})
	require.NoError(t, err)
	elements, err := doc.Elements()
	require.NoError(t, err)
	assert.Len(t, elements, 20001)
	assert.Equal(t, "k19999", elements[20000].Key())

	_, err = ejson.Parse([]byte(b.String()+`,"k777":1}`), ejson.Options{Param: "json"})
	requireWrong(t, err, b.Len()+1, `key "k777" is there twice`)
}

func TestParseSharesNothing(t *testing.T) {
	src := []byte(`{"a":"b","c":["d"]}`)
	doc, err := ejson.Parse(src, ejson.Options{})
	require.NoError(t, err)
	before := string(doc)
	clear(src)
	assert.Equal(t, before, string(doc))
}

// parseValue reads a text that is one JSON value of any kind.
func parseValue(src []byte, o ejson.Options) (bson.RawValue, error) {
	doc, err := ejson.Parse(slices.Concat([]byte(`{"v":`), src, []byte(`}`)), o)
	return doc.Lookup("v"), err
}
