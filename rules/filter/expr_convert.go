package filter

import (
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// conversion returns the operator $toInt or a similar one.
func conversion(to bson.Type) evaluation {
	return func(f frame) bson.RawValue {
		v, reason := convert(f.values[0], to)
		if reason != "" {
			f.fail("%s", reason)
		}
		return v
	}
}

// evalConvert returns onNull for a null input, and onError if the conversion fails. It does not catch errors in the
// arguments themselves. If the target type is null, the result is null.
func evalConvert(f frame) bson.RawValue {
	input, to := f.values[0], f.values[1]
	var target bson.Type
	if !raw.IsNone(to) {
		types, reason := typesOf(to)
		if reason != "" || len(types) != 1 {
			f.fail("knows no such type to convert to")
		}
		target = types[0]
	}
	switch {
	case raw.IsNone(input) && f.has(3):
		return f.lazy(3)
	case raw.IsNone(input) || target == 0:
		return null
	}
	v, reason := convert(input, target)
	if reason != "" && f.has(2) {
		return f.lazy(2)
	} else if reason != "" {
		f.fail("%s", reason)
	}
	return v
}

// convert makes a value of another type, or says why it cannot.
func convert(v bson.RawValue, to bson.Type) (made bson.RawValue, reason string) {
	switch {
	case v.Type == to && slices.Contains(targets, to):
		return v, ""
	case to == bson.TypeBoolean:
		return raw.NewBool(raw.Truth(v)), ""
	case to == bson.TypeString:
		made, reason = toString(v)
	case to == bson.TypeDateTime:
		made, reason = toDate(v)
	case to == bson.TypeObjectID && v.Type == bson.TypeString:
		id, err := bson.ObjectIDFromHex(raw.Text(v))
		if err != nil {
			return null, "takes 24 hexadecimal digits for an ObjectID"
		}
		return bson.RawValue{Type: to, Value: id[:]}, ""
	case raw.IsNumber(to) && v.Type == bson.TypeString:
		return readNumber(raw.Text(v), to)
	case raw.IsNumber(to):
		made, reason = toNumber(v, to)
	}
	if made.Type == 0 && reason == "" {
		reason = fmt.Sprintf("cannot convert %s to %s", typeName(v), typeName(bson.RawValue{Type: to}))
	}
	return made, reason
}

// targets are the types that convert makes.
var targets = []bson.Type{
	bson.TypeBoolean, bson.TypeString, bson.TypeDateTime, bson.TypeObjectID, bson.TypeInt32, bson.TypeInt64,
	bson.TypeDouble, bson.TypeDecimal128,
}

// toString writes a date in UTC with milliseconds. It does not normalise a decimal. It returns a missing value for
// types without a text form.
func toString(v bson.RawValue) (made bson.RawValue, reason string) {
	var s string
	switch v.Type {
	case bson.TypeBoolean:
		s = strconv.FormatBool(raw.Truth(v))
	case bson.TypeInt32, bson.TypeInt64:
		s = strconv.FormatInt(raw.Int(v), 10)
	case bson.TypeDouble:
		s = formatDouble(raw.Double(v))
	case bson.TypeDecimal128:
		s = string(raw.AppendDecimal(nil, v.Value))
	case bson.TypeObjectID:
		s = hex.EncodeToString(v.Value)
	case bson.TypeDateTime:
		t, _ := moment(v)
		s, reason = formatDate(utcFormat, t)
	default:
		return made, ""
	}
	return raw.NewString(s), reason
}

// formatDouble writes the shortest text that parses as the same number.
func formatDouble(d float64) string {
	switch {
	case math.IsInf(d, 1):
		return "Infinity"
	case math.IsInf(d, -1):
		return "-Infinity"
	case d != 0 && (math.Abs(d) < 1e-4 || math.Abs(d) >= 1e16):
		return strconv.FormatFloat(d, 'e', -1, 64)
	}
	return strconv.FormatFloat(d, 'f', -1, 64)
}

func readNumber(text string, to bson.Type) (made bson.RawValue, reason string) {
	if to == bson.TypeInt32 || to == bson.TypeInt64 {
		n, err := strconv.ParseInt(text, 10, bits(to))
		if err != nil {
			return null, fmt.Sprintf("cannot read a text as a whole number of %d bits", bits(to))
		}
		return intValue(n, to), ""
	}
	double, err := strconv.ParseFloat(text, 64)
	if to == bson.TypeDecimal128 {
		_, err = bson.ParseDecimal128(text)
	}
	switch {
	case err != nil || strings.ContainsAny(text, "xX_"): // MongoDB refuses other bases
		return null, "cannot read a text as a number"
	case to == bson.TypeDecimal128:
		return decimalValue(parseApd(text)), ""
	}
	return doubleValue(double), ""
}

func bits(t bson.Type) int {
	if t == bson.TypeInt32 {
		return 32
	}
	return 64
}

// toNumber cuts off fractions for integers, and refuses numbers beyond the range of the type. Booleans and dates
// count as numbers, but a date never becomes an int32. It returns a missing value for other types.
func toNumber(v bson.RawValue, to bson.Type) (made bson.RawValue, reason string) {
	switch {
	case v.Type == bson.TypeBoolean && raw.Truth(v):
		v = intValue(1, bson.TypeInt32)
	case v.Type == bson.TypeBoolean:
		v = intValue(0, bson.TypeInt32)
	case v.Type == bson.TypeDateTime && to != bson.TypeInt32:
		v.Type = bson.TypeInt64
	case !raw.IsNumber(v.Type):
		return made, ""
	}
	switch to {
	case bson.TypeDecimal128: // 15 digits of a double, as in MongoDB
		return decimalValue(toApd(v, 15)), ""
	case bson.TypeDouble:
		f := float(v)
		if math.IsInf(f, 0) && toApd(v, 0).Form == apd.Finite {
			return null, "cannot convert a number beyond the range of double"
		}
		return doubleValue(f), ""
	}
	n, _, ok := raw.Truncate(v)
	if !ok || to == bson.TypeInt32 && n != int64(int32(n)) {
		return null, fmt.Sprintf("cannot convert a number beyond %d bits", bits(to))
	}
	return intValue(n, to), ""
}

// dateLayouts are the accepted forms of dates in texts. A form without a zone means UTC.
var dateLayouts = []string{
	"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00",
	"2006-01-02T15:04", "2006-01-02",
}

// toDate reads whole numbers as milliseconds since 1970, texts by dateLayouts, and the time in a timestamp or an
// ObjectID. It returns a missing value for other types.
func toDate(v bson.RawValue) (made bson.RawValue, reason string) {
	if t, ok := moment(v); ok {
		return intValue(t.UnixMilli(), bson.TypeDateTime), ""
	}
	switch v.Type {
	case bson.TypeInt64, bson.TypeDouble, bson.TypeDecimal128:
		ms, _, ok := raw.Truncate(v)
		if !ok {
			return null, "cannot convert a number beyond the range of dates"
		}
		return intValue(ms, bson.TypeDateTime), ""
	case bson.TypeString:
		written := strings.Replace(raw.Text(v), " ", "T", 1)
		for _, layout := range dateLayouts {
			if t, err := time.Parse(layout, written); err == nil {
				return intValue(t.UnixMilli(), bson.TypeDateTime), ""
			}
		}
		return null, "cannot read a text as a date such as 2024-05-31T12:00:00Z"
	}
	return made, ""
}
