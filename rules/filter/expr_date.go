package filter

import (
	"encoding/binary"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// date returns the moment that a date, timestamp or ObjectID tells.
func (c *call) date(v bson.RawValue) (time.Time, error) {
	t, ok := moment(v)
	if !ok {
		return t, c.wrongf("takes a date, not %s", typeName(v))
	}
	return t, nil
}

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

// zone is a time zone by its name.
type zone struct {
	name string
	*time.Location
}

// zone returns the time zone of an argument: UTC where it is not given, nil where it
// is null.
func (c *call) zone(s *state, i int, args []bson.RawValue) (*time.Location, error) {
	if !c.given(i) {
		return time.UTC, nil
	}
	if nullish(args[i]) {
		return nil, nil
	}
	name, err := c.string("time zone", args[i])
	if err != nil {
		return nil, err
	}
	if s.zone.Location == nil || s.zone.name != name {
		location := locate(name)
		s.left -= zoneWork
		if location == nil {
			return nil, c.wrongf("knows no time zone %.40q", name)
		}
		s.zone = zone{strings.Clone(name), location}
	}
	return s.zone.Location, nil
}

// zoneWork is what another time zone costs, which is read from a file.
const zoneWork = 1000

var offsets = regexp.MustCompile(`^([+-])(\d\d):?(\d\d)?$`)

// locate finds a time zone by its name in the database of them, or by an offset such as
// +02:00; nil if there is none.
func locate(name string) *time.Location {
	if m := offsets.FindStringSubmatch(name); m != nil && !strings.HasSuffix(name, ":") {
		hours, _ := strconv.Atoi(m[2]) // digits, or nothing
		minutes, _ := strconv.Atoi(m[3])
		seconds := hours*3600 + minutes*60
		if m[1] == "-" {
			seconds = -seconds
		}
		if seconds == 0 {
			return time.UTC
		}
		return time.FixedZone(name, seconds)
	}
	if name == "" || name == "Local" || len(name) > 64 { // the first two mean something to Go
		return nil
	}
	location, err := time.LoadLocation(name)
	if err != nil {
		return nil
	}
	return location
}

func yearOf(t time.Time) int  { return t.Year() }
func monthOf(t time.Time) int { return int(t.Month()) }
func dayOf(t time.Time) int   { return t.Day() }

func datePart(of func(time.Time) int) evaluation {
	return func(c *call, s *state, args []bson.RawValue) (bson.RawValue, error) {
		if nullish(args[0]) {
			return null, nil
		}
		location, err := c.zone(s, 1, args)
		if err != nil || location == nil {
			return null, err
		}
		t, err := c.date(args[0])
		return intValue(int64(of(t.In(location))), bson.TypeInt32), err
	}
}

// The formats that dates have if no other is given.
const (
	isoFormat = "%Y-%m-%dT%H:%M:%S.%L"
	utcFormat = isoFormat + "Z"
)

func evalDateToString(c *call, s *state, args []bson.RawValue) (bson.RawValue, error) {
	format := ""
	if c.given(1) && !nullish(args[1]) {
		var err error
		if format, err = c.string("format", args[1]); err != nil {
			return null, err
		}
		if _, reason := appendDate(nil, format, time.Unix(0, 0).UTC()); reason != "" {
			return null, c.wrongf("%s", reason)
		}
	}
	location, err := c.zone(s, 2, args)
	switch {
	case err != nil:
		return null, err
	case nullish(args[0]) && c.given(3):
		return c.args[3].eval(s)
	case nullish(args[0]) || location == nil || c.given(1) && nullish(args[1]):
		return null, nil
	}
	t, err := c.date(args[0])
	if err != nil {
		return null, err
	}
	if !c.given(1) {
		if format = isoFormat; location.String() == "UTC" {
			format = utcFormat
		}
	}
	out, reason := appendDate(nil, format, t.In(location))
	if reason != "" {
		return null, c.wrongf("%s", reason)
	}
	return raw.NewString(string(out)), nil
}

// appendDate writes a date in a format of $dateToString, or says what is wrong.
func appendDate(dst []byte, format string, t time.Time) (out []byte, reason string) {
	for rest := format; rest != ""; {
		plain, spec, found := strings.Cut(rest, "%")
		dst = append(dst, plain...)
		if !found {
			return dst, ""
		}
		if spec == "" {
			return nil, "has a format that ends with %"
		}
		if dst, reason = appendPart(dst, spec[0], t); reason != "" {
			return nil, reason
		}
		rest = spec[1:]
	}
	return dst, ""
}

// appendPart writes what one letter of a format stands for.
func appendPart(dst []byte, letter byte, t time.Time) (out []byte, reason string) {
	isoYear, isoWeek := t.ISOWeek()
	_, offset := t.Zone()
	switch letter {
	case '%':
		return append(dst, '%'), ""
	case 'Y':
		return appendYear(dst, t.Year())
	case 'G':
		return appendYear(dst, isoYear)
	case 'm':
		return appendPadded(dst, int(t.Month()), 2), ""
	case 'd':
		return appendPadded(dst, t.Day(), 2), ""
	case 'H':
		return appendPadded(dst, t.Hour(), 2), ""
	case 'M':
		return appendPadded(dst, t.Minute(), 2), ""
	case 'S':
		return appendPadded(dst, t.Second(), 2), ""
	case 'L':
		return appendPadded(dst, t.Nanosecond()/1e6, 3), ""
	case 'j':
		return appendPadded(dst, t.YearDay(), 3), ""
	case 'w': // Sunday is 1
		return appendPadded(dst, int(t.Weekday())+1, 1), ""
	case 'u': // Monday is 1
		return appendPadded(dst, isoWeekday(t), 1), ""
	case 'U': // weeks begin on Sunday; the days before the first are in week 0
		return appendPadded(dst, (t.YearDay()+6-int(t.Weekday()))/7, 2), ""
	case 'V':
		return appendPadded(dst, isoWeek, 2), ""
	case 'b':
		return t.AppendFormat(dst, "Jan"), ""
	case 'B':
		return t.AppendFormat(dst, "January"), ""
	case 'Z':
		return strconv.AppendInt(dst, int64(offset/60), 10), ""
	case 'z':
		sign := byte('+')
		if offset < 0 {
			sign, offset = '-', -offset
		}
		return appendPadded(append(dst, sign), offset/3600*100+offset/60%60, 4), ""
	}
	return nil, "has a format with the unknown letter " + strconv.QuoteRune(rune(letter))
}

func appendYear(dst []byte, year int) (out []byte, reason string) {
	if year < 0 || year > 9999 {
		return nil, "writes years from 0 to 9999 only"
	}
	return appendPadded(dst, year, 4), ""
}

func appendPadded(dst []byte, n, digits int) []byte {
	s := strconv.Itoa(n)
	for range digits - len(s) {
		dst = append(dst, '0')
	}
	return append(dst, s...)
}

// isoWeekday counts from Monday, which is 1.
func isoWeekday(t time.Time) int { return (int(t.Weekday())+6)%7 + 1 }

// evalDateDiff counts the beginnings of a unit between two dates.
func evalDateDiff(c *call, s *state, args []bson.RawValue) (bson.RawValue, error) {
	if nullish(args[0]) || nullish(args[1]) || nullish(args[2]) {
		return null, nil
	}
	weekly := args[2].Type == bson.TypeString && raw.Text(args[2]) == "week"
	if weekly && c.given(4) && nullish(args[4]) {
		return null, nil
	}
	location, err := c.zone(s, 3, args)
	if err != nil || location == nil {
		return null, err
	}
	start, err := c.date(args[0])
	if err != nil {
		return null, err
	}
	end, err := c.date(args[1])
	if err != nil {
		return null, err
	}
	unit, err := c.string("unit", args[2])
	if err != nil {
		return null, err
	}
	firstDay := 7
	if weekly && c.given(4) {
		if firstDay, err = c.weekday(args[4]); err != nil {
			return null, err
		}
	}
	n, ok := dateDiff(start.In(location), end.In(location), unit, firstDay)
	if !ok {
		return null, c.wrongf("knows no unit %.40q", unit)
	}
	return intValue(n, bson.TypeInt64), nil
}

// weekday reads a day's name, or its first three letters; Monday is 1.
func (c *call) weekday(v bson.RawValue) (int, error) {
	name, err := c.string("startOfWeek", v)
	if err != nil {
		return 0, err
	}
	for day := 1; day <= 7; day++ {
		full := time.Weekday(day % 7).String()
		if strings.EqualFold(name, full) || strings.EqualFold(name, full[:3]) {
			return day, nil
		}
	}
	return 0, c.wrongf("knows no day %.40q to start weeks", name)
}

func dateDiff(start, end time.Time, unit string, firstDay int) (n int64, ok bool) {
	years := int64(end.Year()) - int64(start.Year())
	months := 12*years + int64(end.Month()) - int64(start.Month())
	days := dayNumber(end) - dayNumber(start)
	switch unit {
	case "year":
		return years, true
	case "quarter":
		return 4*years + int64((end.Month()-1)/3) - int64((start.Month()-1)/3), true
	case "month":
		return months, true
	case "week":
		since := int64((isoWeekday(start) - firstDay + 7) % 7) // days since the week of start began
		return floorDiv(days+since, 7), true
	case "day":
		return days, true
	case "hour":
		_, from := start.Zone()
		_, to := end.Zone()
		return 24*days + int64(end.Hour()-start.Hour()) + int64((from-to)/3600), true
	case "minute":
		return floorDiv(end.Unix(), 60) - floorDiv(start.Unix(), 60), true
	case "second":
		return end.Unix() - start.Unix(), true
	case "millisecond":
		return end.UnixMilli() - start.UnixMilli(), true
	}
	return 0, false
}

// dayNumber counts days, as the calendar of the date's own zone has them.
func dayNumber(t time.Time) int64 {
	year, month, day := t.Date()
	return floorDiv(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix(), 24*3600)
}

func floorDiv(a, b int64) int64 {
	n := a / b
	if a%b < 0 {
		n--
	}
	return n
}
