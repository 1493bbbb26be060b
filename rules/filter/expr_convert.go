package filter

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// conversion is $toInt and the like.
func conversion(to bson.Type) evaluation {
	return func(f frame) bson.RawValue {
		v, reason := convert(f.values[0], to)
		if reason != "" {
			f.fail("%s", reason)
		}
		return v
	}
}

// evalConvert returns onNull for a null input, and onError where the conversion fails. Errors
// in the arguments themselves are not caught. A target that is null makes null.
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

// converters make a value of the type that is their key from one of another type, or
// say why they cannot.
var converters = map[bson.Type]func(v bson.RawValue, to bson.Type) (made bson.RawValue, reason string){
	bson.TypeBoolean:    func(v bson.RawValue, _ bson.Type) (bson.RawValue, string) { return raw.NewBool(raw.Truth(v)), "" },
	bson.TypeString:     toString,
	bson.TypeInt32:      toInteger,
	bson.TypeInt64:      toInteger,
	bson.TypeDouble:     toDouble,
	bson.TypeDecimal128: toDecimal128,
	bson.TypeDateTime:   toDate,
	bson.TypeObjectID:   toObjectID,
}

// convert makes a value of another type, or says why it cannot.
func convert(v bson.RawValue, to bson.Type) (made bson.RawValue, reason string) {
	converter, ok := converters[to]
	if !ok {
		return unconvertible(v, to)
	}
	if v.Type == to {
		return v, ""
	}
	if raw.IsNumber(to) { // booleans and dates are numbers to them
		switch {
		case v.Type == bson.TypeBoolean && raw.Truth(v):
			v = intValue(1, bson.TypeInt64)
		case v.Type == bson.TypeBoolean:
			v = intValue(0, bson.TypeInt64)
		case v.Type == bson.TypeDateTime && to != bson.TypeInt32:
			v = intValue(int64(raw.Uint64(v.Value)), bson.TypeInt64)
		}
	}
	return converter(v, to)
}

// unconvertible returns the reason of a conversion that does not exist.
func unconvertible(v bson.RawValue, to bson.Type) (made bson.RawValue, reason string) {
	return null, fmt.Sprintf("cannot convert %s to %s", typeName(v), typeName(bson.RawValue{Type: to}))
}

// toString writes a date in UTC with milliseconds, and a decimal as it is stored.
func toString(v bson.RawValue, to bson.Type) (made bson.RawValue, reason string) {
	var s string
	switch v.Type {
	case bson.TypeBoolean:
		s = strconv.FormatBool(raw.Truth(v))
	case bson.TypeInt32, bson.TypeInt64:
		s = strconv.FormatInt(raw.Int(v), 10)
	case bson.TypeDouble:
		s = formatDouble(raw.Double(v))
	case bson.TypeDecimal128:
		d, _ := v.Decimal128OK()
		s = d.String()
	case bson.TypeObjectID:
		id, _ := v.ObjectIDOK()
		s = id.Hex()
	case bson.TypeDateTime:
		t, _ := moment(v)
		s, reason = formatDate(utcFormat, t)
	default:
		return unconvertible(v, to)
	}
	return raw.NewString(s), reason
}

// formatDouble writes the shortest text that reads as the same number.
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

// toInteger cuts off fractions of numbers; texts may have none.
func toInteger(v bson.RawValue, to bson.Type) (made bson.RawValue, reason string) {
	bits := 64
	if to == bson.TypeInt32 {
		bits = 32
	}
	var n int64
	switch {
	case raw.IsNumber(v.Type):
		var ok bool
		if n, _, ok = raw.Truncate(v); !ok || bits == 32 && n != int64(int32(n)) {
			return null, "cannot convert a number beyond " + strconv.Itoa(bits) + " bits"
		}
	case v.Type == bson.TypeString:
		var err error
		if n, err = strconv.ParseInt(raw.Text(v), 10, bits); err != nil {
			return null, "cannot read a text as a whole number of " + strconv.Itoa(bits) + " bits"
		}
	default:
		return unconvertible(v, to)
	}
	return intValue(n, to), ""
}

// toDouble refuses finite decimals that a double cannot hold.
func toDouble(v bson.RawValue, to bson.Type) (made bson.RawValue, reason string) {
	switch {
	case raw.IsNumber(v.Type):
		f := float(v)
		if math.IsInf(f, 0) && toApd(v, 0).Form == apd.Finite {
			return null, "cannot convert a number beyond the range of double"
		}
		return doubleValue(f), ""
	case v.Type == bson.TypeString:
		f, err := strconv.ParseFloat(raw.Text(v), 64)
		if err != nil || isHex(raw.Text(v)) {
			return null, "cannot read a text as a number"
		}
		return doubleValue(f), ""
	}
	return unconvertible(v, to)
}

// isHex reports whether a number is written in a base that MongoDB refuses.
func isHex(s string) bool { return strings.ContainsAny(s, "xX_") }

// toDecimal128 takes 15 digits of a double, as MongoDB does.
func toDecimal128(v bson.RawValue, to bson.Type) (made bson.RawValue, reason string) {
	switch {
	case raw.IsNumber(v.Type):
		return decimalValue(toApd(v, 15)), ""
	case v.Type == bson.TypeString:
		if _, err := bson.ParseDecimal128(raw.Text(v)); err != nil || isHex(raw.Text(v)) {
			return null, "cannot read a text as a number"
		}
		return decimalValue(parseApd(raw.Text(v))), ""
	}
	return unconvertible(v, to)
}

// toObjectID reads 24 hexadecimal digits of either case.
func toObjectID(v bson.RawValue, to bson.Type) (made bson.RawValue, reason string) {
	if v.Type != bson.TypeString {
		return unconvertible(v, to)
	}
	id, err := bson.ObjectIDFromHex(raw.Text(v))
	if err != nil {
		return null, "takes 24 hexadecimal digits for an ObjectID"
	}
	return bson.RawValue{Type: to, Value: id[:]}, ""
}

// dateLayouts are how texts write dates; those without a zone mean UTC.
var dateLayouts = []string{
	"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02T15:04", "2006-01-02",
}

// toDate reads whole numbers as milliseconds since 1970, texts by dateLayouts, and the
// moment that a timestamp or an ObjectID holds.
func toDate(v bson.RawValue, to bson.Type) (made bson.RawValue, reason string) {
	if t, ok := moment(v); ok {
		return intValue(t.UnixMilli(), to), ""
	}
	switch v.Type {
	case bson.TypeInt64, bson.TypeDouble, bson.TypeDecimal128:
		ms, _, ok := raw.Truncate(v)
		if !ok {
			return null, "cannot convert a number beyond the range of dates"
		}
		return intValue(ms, to), ""
	case bson.TypeString:
		written := strings.Replace(raw.Text(v), " ", "T", 1)
		for _, layout := range dateLayouts {
			if t, err := time.Parse(layout, written); err == nil {
				return intValue(t.UnixMilli(), to), ""
			}
		}
		return null, "cannot read a text as a date such as 2024-05-31T12:00:00Z"
	}
	return unconvertible(v, to)
}
