package spectrum

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// document returns the bytes of an embedded document, or nil for other values.
func document(v bson.RawValue) []byte {
	doc, _ := v.DocumentOK()
	return doc
}

// text returns the text of a string, or "" for other values.
func text(v bson.RawValue) string {
	s, _ := v.StringValueOK()
	return s
}

// is reports whether v is the boolean b. Numbers and text are not booleans.
func is(v bson.RawValue, b bool) bool {
	got, ok := v.BooleanOK()
	return ok && got == b
}

// whole returns a whole number, also one stored as double. ok is false for other values.
func whole(v bson.RawValue) (n int64, ok bool) {
	n, integral, ok := raw.Truncate(v)
	if !ok || !integral {
		return 0, false
	}
	return n, true
}
