package ejson_test

import (
	"encoding/json"
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/ejson"
)

// FuzzParse: for any text the reader returns a valid document, which is unchanged after writing and
// reading it, or an error of one kind.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"a":[1,-2.5e3,"x",null,true]}`, `{"a":{"$oid":"507f1f77bcf86cd799439011"}}`,
		`{"a":{"$date":"2024-02-29T12:34:56.789+05:30"}}`, `{"a":{"$date":{"$numberLong":"-1"}}}`,
		`{"a":{"$binary":{"base64":"AQI=","subType":"02"}}}`, `{"a":{"$binary":"AQI=","$type":"00"}}`,
		`{"a":{"$uuid":"00112233-4455-6677-8899-aabbccddeeff"}}`, `{"a":{"$numberDecimal":"1.50E-7"}}`,
		`{"a":{"$regularExpression":{"pattern":"x","options":"mi"}}}`, `{"a":{"$timestamp":{"t":1,"i":2}}}`,
		`{"a":{"$code":"f","$scope":{"b":{"$minKey":1}}}}`, `{"a":{"$numberDouble":"-Infinity"}}`,
		`{"a":{"$dbPointer":{"$ref":"c","$id":{"$oid":"507f1f77bcf86cd799439011"}}}}`,
		`{"\u0061\ud83d\ude00":{"$regex":"a","$options":"i"}}`, `{"a":1,"a":2}`, "{\"\xff\":\"\\",
		`{"a":{"$symbol":"s"}}`,
	} {
		f.Add([]byte(seed), false)
	}
	f.Add([]byte(`{"a":{"$regex":"a","$options":"ism"}}`), true)
	f.Fuzz(func(t *testing.T, src []byte, regexValues bool) {
		doc, err := ejson.Parse(src, ejson.Options{Param: "json", RegexValues: regexValues})
		if err != nil {
			var wrong *rules.Error
			if doc != nil || !errors.As(err, &wrong) || wrong.Param != "json" {
				t.Fatalf("document %v, error %#v", doc, err)
			}
			return
		}
		if !json.Valid(src) {
			t.Fatalf("accepted %q, which is not JSON", src)
		}
		if err := doc.Validate(); err != nil {
			t.Fatalf("%q gave an invalid document: %v", src, err)
		}
		text := ejson.AppendDocument(nil, doc)
		if !json.Valid(text) {
			t.Fatalf("%q is written as %q", src, text)
		}
		again, err := ejson.Parse(text, ejson.Options{})
		if err != nil {
			t.Fatalf("%q is written as %q: %v", src, text, err)
		}
		// An int64 in the document comes back as int32, so compare the text.
		if third := ejson.AppendDocument(nil, again); string(third) != string(text) {
			t.Fatalf("%q is written as %q, then as %q", src, text, third)
		}
	})
}

// FuzzAppend: for any bytes the writer writes valid JSON.
func FuzzAppend(f *testing.F) {
	seed, err := bson.Marshal(bson.D{
		{Key: "s", Value: "a\"\x00"}, {Key: "a", Value: bson.A{1, int64(2), 2.5}},
		{Key: "d", Value: bson.D{{Key: "x", Value: nil}}},
		{Key: "c", Value: bson.CodeWithScope{Code: "f", Scope: bson.D{}}},
		{Key: "b", Value: bson.Binary{Subtype: 2, Data: []byte("x")}},
		{Key: "r", Value: bson.Regex{Pattern: "p", Options: "i"}}, {Key: "p", Value: bson.DBPointer{DB: "c"}},
		{Key: "n", Value: bson.Decimal128{}},
		{Key: "t", Value: bson.DateTime(-1)}, {Key: "u", Value: bson.DateTime(1)}, {Key: "o", Value: bson.ObjectID{}},
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(byte(bson.TypeEmbeddedDocument), seed)
	f.Add(byte(bson.TypeArray), seed)
	f.Add(byte(bson.TypeString), []byte("\x02\x00\x00\x00\xff\x00"))
	f.Fuzz(func(t *testing.T, kind byte, data []byte) {
		for _, text := range [][]byte{
			ejson.AppendDocument(nil, data),
			ejson.Append(nil, bson.RawValue{Type: bson.Type(kind), Value: data}),
			ejson.AppendString(nil, data),
			ejson.AppendString(nil, string(data)),
		} {
			if !json.Valid(text) {
				t.Fatalf("%q is written as %q", data, text)
			}
		}
	})
}
