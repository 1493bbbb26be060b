package filter

import (
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

// conversion is $toInt and the like.
func conversion(to bson.Type) evaluation {
	return func(c *call, _ *state, args []bson.RawValue) (bson.RawValue, error) {
		if nullish(args[0]) {
			return null, nil
		}
		v, reason := convert(args[0], to)
		if reason != "" {
			return null, c.wrongf("%s", reason)
		}
		return v, nil
	}
}

func evalConvert(c *call, s *state, args []bson.RawValue) (bson.RawValue, error) {
	to := args[1]
	var target bson.Type
	if !nullish(to) {
		types, err := (&parser{}).types(to)
		if err != nil || len(types) != 1 {
			return null, c.wrongf("knows no such type to convert to")
		}
		target = types[0]
	}
	switch {
	case nullish(args[0]) && c.given(3):
		return c.args[3].eval(s)
	case nullish(args[0]) || target == 0:
		return null, nil
	}
	v, reason := convert(args[0], target)
	switch {
	case reason == "":
		return v, nil
	case c.given(2):
		return c.args[2].eval(s)
	}
	return null, c.wrongf("%s", reason)
}

// convertible are the types that values can be converted to.
var convertible = []bson.Type{
	bson.TypeBoolean, bson.TypeString, bson.TypeInt32, bson.TypeInt64, bson.TypeDouble, bson.TypeDecimal128,
	bson.TypeDateTime, bson.TypeObjectID,
}

// convert makes a value of another type, or says why it cannot.
func convert(v bson.RawValue, to bson.Type) (made bson.RawValue, reason string) {
	if v.Type == to && slices.Contains(convertible, to) {
		return v, ""
	}
	switch to {
	case bson.TypeBoolean:
		return raw.NewBool(raw.Truth(v)), ""
	case bson.TypeString:
		return toString(v)
	case bson.TypeInt32, bson.TypeInt64:
		return toInteger(v, to)
	case bson.TypeDouble:
		return toDouble(v)
	case bson.TypeDecimal128:
		return toDecimal128(v)
	case bson.TypeDateTime:
		return toDate(v)
	case bson.TypeObjectID:
		if v.Type == bson.TypeString {
			id, err := bson.ObjectIDFromHex(raw.Text(v))
			if err != nil {
				return null, "takes 24 hexadecimal digits for an ObjectID"
			}
			return bson.RawValue{Type: to, Value: id[:]}, ""
		}
	}
	return null, unconvertible(v, to)
}

func unconvertible(v bson.RawValue, to bson.Type) string {
	return fmt.Sprintf("cannot convert %s to %s", typeName(v), typeName(bson.RawValue{Type: to}))
}

func toString(v bson.RawValue) (bson.RawValue, string) {
	switch v.Type {
	case bson.TypeBoolean:
		return raw.NewString(strconv.FormatBool(raw.Truth(v))), ""
	case bson.TypeInt32, bson.TypeInt64:
		return raw.NewString(strconv.FormatInt(raw.Int(v), 10)), ""
	case bson.TypeDouble:
		return raw.NewString(formatDouble(raw.Double(v))), ""
	case bson.TypeDecimal128:
		d, _ := v.Decimal128OK()
		return raw.NewString(d.String()), ""
	case bson.TypeObjectID:
		id, _ := v.ObjectIDOK()
		return raw.NewString(id.Hex()), ""
	case bson.TypeDateTime:
		t, _ := moment(v)
		out, reason := appendDate(nil, utcFormat, t)
		return raw.NewString(string(out)), reason
	}
	return null, unconvertible(v, bson.TypeString)
}

// formatDouble writes the shortest text that reads as the same number.
func formatDouble(d float64) string {
	switch {
	case math.IsNaN(d):
		return "NaN"
	case math.IsInf(d, 1):
		return "Infinity"
	case math.IsInf(d, -1):
		return "-Infinity"
	case d != 0 && (math.Abs(d) < 1e-4 || math.Abs(d) >= 1e16):
		return strconv.FormatFloat(d, 'e', -1, 64)
	}
	return strconv.FormatFloat(d, 'f', -1, 64)
}

func toInteger(v bson.RawValue, to bson.Type) (bson.RawValue, string) {
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
	case v.Type == bson.TypeBoolean:
		if raw.Truth(v) {
			n = 1
		}
	case v.Type == bson.TypeDateTime && bits == 64:
		n = int64(raw.Uint64(v.Value))
	case v.Type == bson.TypeString:
		var err error
		if n, err = strconv.ParseInt(raw.Text(v), 10, bits); err != nil {
			return null, "cannot read a text as a whole number of " + strconv.Itoa(bits) + " bits"
		}
	default:
		return null, unconvertible(v, to)
	}
	return intValue(n, to), ""
}

func toDouble(v bson.RawValue) (bson.RawValue, string) {
	switch {
	case raw.IsNumber(v.Type):
		f := float(v)
		if math.IsInf(f, 0) && toApd(v, 0).Form == apd.Finite {
			return null, "cannot convert a number beyond the range of double"
		}
		return doubleValue(f), ""
	case v.Type == bson.TypeBoolean:
		if raw.Truth(v) {
			return doubleValue(1), ""
		}
		return doubleValue(0), ""
	case v.Type == bson.TypeDateTime:
		return doubleValue(float64(int64(raw.Uint64(v.Value)))), ""
	case v.Type == bson.TypeString:
		f, err := strconv.ParseFloat(raw.Text(v), 64)
		if err != nil || isHex(raw.Text(v)) {
			return null, "cannot read a text as a number"
		}
		return doubleValue(f), ""
	}
	return null, unconvertible(v, bson.TypeDouble)
}

// isHex reports whether a number is written in a base that MongoDB refuses.
func isHex(s string) bool { return strings.ContainsAny(s, "xX_") }

func toDecimal128(v bson.RawValue) (bson.RawValue, string) {
	switch v.Type {
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDouble:
		return decimalValue(toApd(v, 15)), ""
	case bson.TypeBoolean, bson.TypeDateTime:
		whole, _ := toInteger(v, bson.TypeInt64)
		return decimalValue(toApd(whole, 0)), ""
	case bson.TypeString:
		if _, err := bson.ParseDecimal128(raw.Text(v)); err != nil || isHex(raw.Text(v)) {
			return null, "cannot read a text as a number"
		}
		return decimalValue(parseApd(raw.Text(v))), ""
	}
	return null, unconvertible(v, bson.TypeDecimal128)
}

// dateLayouts are how texts write dates; those without a zone mean UTC.
var dateLayouts = []string{
	"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02T15:04", "2006-01-02",
}

func toDate(v bson.RawValue) (bson.RawValue, string) {
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
		written := raw.Text(v)
		if day, clock, ok := strings.Cut(written, " "); ok {
			written = day + "T" + clock
		}
		for _, layout := range dateLayouts {
			if t, err := time.Parse(layout, written); err == nil {
				return intValue(t.UnixMilli(), bson.TypeDateTime), ""
			}
		}
		return null, "cannot read a text as a date such as 2024-05-31T12:00:00Z"
	}
	return null, unconvertible(v, bson.TypeDateTime)
}
