package filter

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// date returns the time in a date, timestamp or ObjectID, in a time zone.
func (f frame) date(v bson.RawValue, zone *time.Location) time.Time {
	t, ok := moment(v)
	if !ok {
		f.fail("takes a date, not %s", typeName(v))
	}
	return t.In(zone)
}

// moment returns the time in a date, timestamp or ObjectID, in UTC.
func moment(v bson.RawValue) (time.Time, bool) {
	switch {
	case v.Type == bson.TypeDateTime:
		return time.UnixMilli(int64(raw.Uint64(v.Value))).UTC(), true
	case v.Type == bson.TypeTimestamp:
		return time.Unix(int64(raw.Uint64(v.Value)>>32), 0).UTC(), true
	case v.Type == bson.TypeObjectID && len(v.Value) == 12:
		return time.Unix(int64(binary.BigEndian.Uint32(v.Value)), 0).UTC(), true
	}
	return time.Time{}, false
}

// zone is a time zone with its name.
type zone struct {
	name string
	*time.Location
}

// zone returns the time zone of an argument: UTC if it is absent, nil if it is null.
func (f frame) zone(i int) *time.Location {
	if !f.has(i) {
		return time.UTC
	}
	if raw.IsNone(f.values[i]) {
		return nil
	}
	name := f.string("time zone", i)
	if s := f.state; s.zone.Location == nil || s.zone.name != name {
		location := locate(name)
		s.steps -= zoneWork
		if location == nil {
			f.fail("knows no time zone %.40q", name)
		}
		s.zone = zone{strings.Clone(name), location}
	}
	return f.state.zone.Location
}

// zoneWork is the number of steps for loading a time zone from its file.
const zoneWork = 1000

// locate finds a time zone by its name or an offset such as +02:00, or returns nil.
func locate(name string) *time.Location {
	for _, offset := range []string{"-07", "-0700", "-07:00"} {
		if t, err := time.ParseInLocation(offset, name, time.UTC); err == nil {
			return t.Location()
		}
	}
	if name == "" || name == "Local" || len(name) > 64 { // the first two have a special meaning in Go
		return nil
	}
	location, _ := time.LoadLocation(name)
	return location
}

// datePart returns $year or a similar operator. Its second argument is the time zone.
func datePart(of func(time.Time) int) evaluation {
	return func(f frame) bson.RawValue {
		location := f.zone(1)
		if location == nil {
			return null
		}
		return intValue(int64(of(f.date(f.values[0], location))), bson.TypeInt32)
	}
}

// The default formats of dates.
const (
	isoFormat = "%Y-%m-%dT%H:%M:%S.%L"
	utcFormat = isoFormat + "Z"
)

// evalDateToString checks format and time zone even without a date, because their errors concern all documents.
func evalDateToString(f frame) bson.RawValue {
	format, isNull := "", f.has(1) && raw.IsNone(f.values[1])
	if f.has(1) && !isNull {
		format = f.string("format", 1)
		f.formatted(format, time.Unix(0, 0).UTC()) // fails if the format is invalid
	}
	location := f.zone(2)
	switch {
	case raw.IsNone(f.values[0]) && f.has(3):
		return f.lazy(3)
	case raw.IsNone(f.values[0]) || location == nil || isNull:
		return null
	}
	if !f.has(1) {
		if format = isoFormat; location.String() == "UTC" {
			format = utcFormat
		}
	}
	return f.formatted(format, f.date(f.values[0], location))
}

func (f frame) formatted(format string, t time.Time) bson.RawValue {
	s, reason := formatDate(format, t)
	if reason != "" {
		f.fail("%s", reason)
	}
	return raw.NewString(s)
}

// layouts maps the letters of a format to Go's layouts.
var layouts = map[byte]string{
	'%': "%", 'm': "01", 'd': "02", 'H': "15", 'M': "04", 'S': "05", 'j': "002", 'b': "Jan", 'B': "January",
	'z': "-0700",
}

const yearDigits = 4

// dateNumbers are the letters that Go has no layout for, with the digits of their numbers.
var dateNumbers = map[byte]struct {
	digits int
	of     func(t time.Time) int
}{
	'Y': {yearDigits, time.Time.Year},
	'G': {yearDigits, func(t time.Time) int { year, _ := t.ISOWeek(); return year }},
	'V': {2, func(t time.Time) int { _, week := t.ISOWeek(); return week }},
	// before the first Sunday is week 0
	'U': {2, func(t time.Time) int { return (t.YearDay() + 6 - int(t.Weekday())) / 7 }},
	'L': {3, func(t time.Time) int { return t.Nanosecond() / 1e6 }},
	'w': {1, func(t time.Time) int { return int(t.Weekday()) + 1 }}, // Sunday is 1
	'u': {1, isoWeekday},
	'Z': {1, func(t time.Time) int { _, offset := t.Zone(); return offset / 60 }},
}

// formatDate writes a date in a format of $dateToString. If the format is invalid, reason says why.
func formatDate(format string, t time.Time) (written, reason string) {
	var b []byte
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			b = append(b, format[i])
			continue
		}
		if i++; i == len(format) {
			return "", "has a format that ends with %"
		}
		letter := format[i]
		if number, ok := dateNumbers[letter]; ok {
			n := number.of(t)
			if number.digits == yearDigits && (n < 0 || n > 9999) {
				return "", "writes years from 0 to 9999 only"
			}
			b = fmt.Appendf(b, "%0*d", number.digits, n)
		} else if layout, ok := layouts[letter]; ok {
			b = t.AppendFormat(b, layout)
		} else {
			return "", "has a format with the unknown letter " + strconv.QuoteRune(rune(letter))
		}
	}
	return string(b), ""
}

// isoWeekday returns 1 for Monday to 7 for Sunday.
func isoWeekday(t time.Time) int { return (int(t.Weekday())+6)%7 + 1 }

// evalDateDiff counts how often a unit begins between two dates.
func evalDateDiff(f frame) bson.RawValue {
	weekly := f.values[2].Type == bson.TypeString && raw.Text(f.values[2]) == "week"
	if weekly && f.has(4) && raw.IsNone(f.values[4]) {
		return null
	}
	location := f.zone(3)
	if location == nil {
		return null
	}
	start, end, unit := f.date(f.values[0], location), f.date(f.values[1], location), f.string("unit", 2)
	firstDay := 7
	if weekly && f.has(4) {
		firstDay = f.weekday(4)
	}
	n, ok := dateDiff(start, end, unit, firstDay)
	if !ok {
		f.fail("knows no unit %.40q", unit)
	}
	return intValue(n, bson.TypeInt64)
}

// weekday reads the name of a day, or its first three letters. Monday is 1.
func (f frame) weekday(i int) int {
	name := f.string("startOfWeek", i)
	for day := 1; day <= 7; day++ {
		full := time.Weekday(day % 7).String()
		if strings.EqualFold(name, full) || strings.EqualFold(name, full[:3]) {
			return day
		}
	}
	f.fail("knows no day %.40q to start weeks", name)
	return 0
}

// dateDiff counts how often a unit begins between two dates of one time zone. It returns false if the unit is
// unknown. Weeks begin on firstDay, from 1 for Monday to 7.
func dateDiff(start, end time.Time, unit string, firstDay int) (n int64, ok bool) {
	const hour, day = 3600, 24 * 3600
	_, from := start.Zone()
	_, to := end.Zone()
	first, last := start.Unix()+int64(from), end.Unix()+int64(to) // as the clocks of the zone have them
	months := 12*(int64(end.Year())-int64(start.Year())) + int64(end.Month()) - int64(start.Month())
	switch unit {
	case "year":
		return int64(end.Year()) - int64(start.Year()), true
	case "quarter":
		return floorDiv(months+int64(start.Month()-1)%3, 3), true
	case "month":
		return months, true
	case "week":
		since := int64((isoWeekday(start) - firstDay + 7) % 7) // days since the week of start began
		return floorDiv(floorDiv(last, day)-floorDiv(first, day)+since, 7), true
	case "day":
		return floorDiv(last, day) - floorDiv(first, day), true
	case "hour":
		return floorDiv(last, hour) - floorDiv(first, hour) + int64((from-to)/hour), true
	case "minute":
		return floorDiv(end.Unix(), 60) - floorDiv(start.Unix(), 60), true
	case "second":
		return end.Unix() - start.Unix(), true
	case "millisecond":
		return end.UnixMilli() - start.UnixMilli(), true
	}
	return 0, false
}

// floorDiv divides by a positive number and rounds towards negative infinity.
func floorDiv(a, b int64) int64 {
	n := a / b
	if a%b < 0 {
		n--
	}
	return n
}
