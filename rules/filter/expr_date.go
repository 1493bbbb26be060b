package filter

import (
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// date returns the time in a date, timestamp or ObjectID, in a time zone. A timestamp has seconds
// in its upper 32 bits and a counter below; an ObjectID begins with seconds in big-endian order,
// other than the rest of BSON.
func (f frame) date(v bson.RawValue, zone *time.Location) time.Time {
	var at time.Time
	switch {
	case v.Type == bson.TypeDateTime:
		at = time.UnixMilli(int64(raw.Uint64(v.Value)))
	case v.Type == bson.TypeTimestamp:
		at = time.Unix(int64(raw.Uint64(v.Value)>>32), 0)
	case v.Type == bson.TypeObjectID && len(v.Value) == 12:
		at = time.Unix(int64(binary.BigEndian.Uint32(v.Value)), 0)
	default:
		f.fail("takes a date, not %s", typeName(v))
	}
	return at.In(zone)
}

// zone is a time zone with its name. The name is the caller's spelling, which Location.String does
// not return for offsets.
type zone struct {
	name string
	*time.Location
}

// zone returns the time zone of an argument: UTC if it is absent, nil if it is null. The state
// keeps the last zone, since an argument is mostly a constant and time.LoadLocation reads a file. A
// name from a document may change with each; zoneWork makes that count.
func (f frame) zone(i int) *time.Location {
	if !f.has(i) {
		return time.UTC
	}
	if raw.IsNone(f.values[i]) {
		return nil
	}
	name := f.string("time zone", f.values[i])
	if s := f.state; s.zone.Location == nil || s.zone.name != name {
		location := locate(name)
		s.steps -= zoneWork
		if location == nil { // the database may know more
			f.beyond(fmt.Sprintf("in the time zone %.40q", name))
		}
		s.zone = zone{strings.Clone(name), location}
	}
	return f.state.zone.Location
}

// zoneWork is the number of steps for loading a time zone from its file.
const zoneWork = 1000

// locate finds a time zone by its name or an offset such as +02:00, or returns nil. No zone has a
// name of more than 64 bytes. time.LoadLocation itself refuses names that leave its folder.
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

// datePart returns $year or a similar operator. Its second argument is the time zone. The first
// argument alone may also stand without a document: {$year: "$date"}.
func datePart(of func(time.Time) int) *operator {
	return &operator{
		least: 1, most: 1, names: []string{"date!", "timezone"}, nulls: 1,
		eval: func(f frame) bson.RawValue {
			location := f.zone(1)
			if location == nil {
				return null
			}
			return intValue(int64(of(f.date(f.values[0], location))), bson.TypeInt32)
		},
	}
}

// evalDateTrunc returns the midnight that begins the day, month or year. The database decides on other units, and
// where a change of the clock skips or repeats that midnight.
func evalDateTrunc(f frame) bson.RawValue {
	location := f.zone(2)
	if location == nil {
		return null
	}
	unit := f.string("unit", f.values[1])
	year, month, day := f.date(f.values[0], location).Date()
	switch unit {
	case "day":
	case "month":
		day = 1
	case "year":
		month, day = time.January, 1
	default:
		f.beyond(fmt.Sprintf("by %.40q", unit))
	}
	start := time.Date(year, month, day, 0, 0, 0, 0, location)
	// time.Date moves a midnight that does not exist, and chooses one of two. Servers choose by
	// their own tables of zones.
	if start.Add(-time.Hour).Hour() != 23 || start.Add(time.Hour).Hour() != 1 {
		f.beyond("at a midnight at which the clock changes")
	}
	return intValue(start.UnixMilli(), bson.TypeDateTime)
}

// The default formats of dates.
const (
	isoFormat = "%Y-%m-%dT%H:%M:%S.%L"
	utcFormat = isoFormat + "Z"
)

// evalDateToString checks format and time zone even without a date, because their errors concern
// all documents. It formats the first moment of 1970 for that and drops the result.
func evalDateToString(f frame) bson.RawValue {
	format, isNull := "", f.has(1) && raw.IsNone(f.values[1])
	if f.has(1) && !isNull {
		format = f.string("format", f.values[1])
		f.formatted(format, time.Unix(0, 0).UTC())
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
	return raw.NewString(f.formatted(format, f.date(f.values[0], location)))
}

// layouts maps the letters of a format to Go's layouts. Go has none for L, the milliseconds.
var layouts = map[byte]string{
	'%': "%", 'Y': "2006", 'm': "01", 'd': "02", 'H': "15", 'M': "04", 'S': "05", 'L': "", 'j': "002", 'z': "-0700",
}

// formatted writes a date in a format of $dateToString. Formats with other letters are left to the database.
//
//	formatted("%d.%m.%Y", t) → 01.05.2024
func (f frame) formatted(format string, t time.Time) string {
	var b []byte
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			b = append(b, format[i])
			continue
		}
		var letter byte // 0 after the last %
		if i++; i < len(format) {
			letter = format[i]
		}
		layout, known := layouts[letter]
		switch {
		case !known:
			f.beyond(fmt.Sprintf("in the format %.40q", format))
		case letter == 'Y' && (t.Year() < 0 || t.Year() > 9999):
			f.fail("writes years from 0 to 9999 only")
		case letter == 'L':
			b = fmt.Appendf(b, "%03d", t.Nanosecond()/1e6)
		}
		b = t.AppendFormat(b, layout)
	}
	return string(b)
}
