package spectrum

import (
	"bytes"
	"iter"
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"vitrine/rules/ejson"
)

// fields yields the keys and values of an encoded document or array. A malformed one
// ends at the fault: what follows counts as missing.
func fields(doc []byte) iter.Seq2[[]byte, bsoncore.Value] {
	return func(yield func([]byte, bsoncore.Value) bool) {
		length, rest, ok := bsoncore.ReadLength(doc)
		if !ok || int(length) != len(doc) {
			return
		}
		for len(rest) > 1 {
			var e bsoncore.Element
			if e, rest, ok = bsoncore.ReadElement(rest); !ok {
				return
			}
			end := 1 + bytes.IndexByte(e[1:], 0)
			if !yield(e[1:end], bsoncore.Value{Type: bsoncore.Type(e[0]), Data: e[end+1:]}) {
				return
			}
		}
	}
}

// field returns the value of a key; the zero Value if there is none.
func field(doc []byte, key string) bsoncore.Value {
	for k, v := range fields(doc) {
		if string(k) == key {
			return v
		}
	}
	return bsoncore.Value{}
}

// at follows a path of keys through embedded documents.
func at(v bsoncore.Value, path []string) bsoncore.Value {
	for _, key := range path {
		doc, ok := v.DocumentOK()
		if !ok {
			return bsoncore.Value{}
		}
		v = field(doc, key)
	}
	return v
}

// array returns an array's bytes; nil for all other values.
func array(v bsoncore.Value) []byte {
	a, _ := v.ArrayOK()
	return a
}

// text returns a string's value; "" for all other values.
func text(v bsoncore.Value) string {
	s, _ := v.StringValueOK()
	return s
}

// is reports the boolean b; other truths are none.
func is(v bsoncore.Value, b bool) bool {
	got, ok := v.BooleanOK()
	return ok && got == b
}

// number returns the value of an int32, int64 or double.
func number(v bsoncore.Value) (float64, bool) {
	if v.Type == bsoncore.TypeDouble {
		return v.DoubleOK()
	}
	n, ok := whole(v)
	return float64(n), ok
}

// whole returns a whole number, also one stored as double; 0 if there is none.
func whole(v bsoncore.Value) (int64, bool) {
	switch v.Type {
	case bsoncore.TypeInt32, bsoncore.TypeInt64:
		return v.AsInt64OK()
	case bsoncore.TypeDouble:
		if f, ok := v.DoubleOK(); ok && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return int64(f), true
		}
	}
	return 0, false
}

// idText returns an _id as the string that the API calls id.
func idText(v bsoncore.Value) string {
	return ejson.IDText(bson.RawValue{Type: bson.Type(v.Type), Value: v.Data})
}
