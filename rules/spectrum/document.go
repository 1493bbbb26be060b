package spectrum

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// document returns the bytes of an embedded document; nil for all other values.
func document(v bson.RawValue) []byte {
	doc, _ := v.DocumentOK()
	return doc
}

// text returns a string's value; "" for all other values.
func text(v bson.RawValue) string {
	s, _ := v.StringValueOK()
	return s
}

// is reports whether v is the boolean b. Numbers and text are no booleans.
func is(v bson.RawValue, b bool) bool {
	got, ok := v.BooleanOK()
	return ok && got == b
}

// number returns the value of an int32, int64 or double; 0 if there is none.
func number(v bson.RawValue) float64 {
	if v.Type == bson.TypeDouble {
		return raw.Double(v)
	}
	n, _ := whole(v)
	return float64(n)
}

// whole returns a whole number, also one stored as double; 0 if there is none.
func whole(v bson.RawValue) (n int64, ok bool) {
	switch v.Type {
	case bson.TypeInt32, bson.TypeInt64:
		return raw.Int(v), true
	case bson.TypeDouble:
		if f := raw.Double(v); f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return int64(f), true
		}
	}
	return 0, false
}
