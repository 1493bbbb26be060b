package display

import (
	"iter"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/ejson"
	"vitrine/rules/raw"
)

// Text returns a scalar as text: ObjectIDs as their digits, dates as RFC 3339, numbers and booleans as JSON. It
// returns "" for a missing value, null or a non-scalar. A text is valid UTF-8, with U+FFFD for bytes that are none.
func Text(v bson.RawValue) string {
	switch v.Type {
	case bson.TypeString:
		s, _ := v.StringValueOK()
		return strings.ToValidUTF8(s, "\uFFFD")
	case bson.TypeObjectID:
		return v.ObjectID().Hex()
	case bson.TypeDateTime:
		return time.UnixMilli(v.DateTime()).UTC().Format(time.RFC3339)
	case bson.TypeInt32, bson.TypeInt64, bson.TypeBoolean:
		return string(ejson.Append(nil, v))
	case bson.TypeDouble:
		return strconv.FormatFloat(v.Double(), 'f', -1, 64)
	case bson.TypeDecimal128:
		return v.Decimal128().String()
	}
	return ""
}

// Empty reports whether a value is shown as "-": missing, null, an empty string, array or document. Zero and false
// are values.
func Empty(v bson.RawValue) bool {
	switch v.Type {
	case 0, bson.TypeNull, bson.TypeUndefined:
		return true
	case bson.TypeString, bson.TypeArray, bson.TypeEmbeddedDocument:
		return len(v.Value) <= raw.MinDocument // a document of minimal size has no elements
	}
	return false
}

// each yields the elements of an array, or a single value as the only element. It yields nothing for an empty value.
func each(v bson.RawValue) iter.Seq[bson.RawValue] {
	if v.Type == bson.TypeArray {
		return raw.Elements(v)
	}
	return func(yield func(bson.RawValue) bool) {
		if !Empty(v) {
			yield(v)
		}
	}
}

// Texts returns the texts of an array's scalars, or of a single scalar.
func Texts(v bson.RawValue) []string { return names(v, Text) }

// firstText returns the text of the first key that has one, or "".
func firstText(doc bson.Raw, keys ...string) string {
	for _, key := range keys {
		if s := Text(doc.Lookup(key)); s != "" {
			return s
		}
	}
	return ""
}
