package units

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/ejson"
	"vitrine/rules/raw"
)

// AppendData writes a row as the JSON object {"name": …, "units": […]}, the data of a response. Today is the day of
// now in now's location, which is the configured zone. Names are in German if lang is "de", and otherwise in English.
func AppendData(dst []byte, row bson.Raw, now time.Time, lang string) []byte {
	dst = ejson.AppendString(append(dst, `{"name":`...), raw.StringField(row, "name"))
	dst = append(dst, `,"units":[`...)
	first := true
	for unit := range raw.Elements(row.Lookup("units")) {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = appendMembership(dst, unit.Value, now, lang)
	}
	return append(dst, ']', '}')
}

// appendMembership writes one element of units: the stored fields, then name and in_past.
func appendMembership(dst []byte, unit bson.Raw, now time.Time, lang string) []byte {
	membership, _ := unit.Lookup("membership").DocumentOK()
	dst = append(dst, '{')
	for e := range raw.All(membership) {
		key := string(e.Key)
		if key == "name" || key == "in_past" {
			continue
		}
		dst = ejson.Append(ejson.AppendKey(dst, key), e.Value())
	}
	dst = ejson.AppendString(ejson.AppendKey(dst, "name"), unitName(unit, lang))
	dst = strconv.AppendBool(append(dst, `,"in_past":`...), InPast(membership.Lookup("end"), now))
	return append(dst, '}')
}

// unitName returns a unit's name in a language, or the text for an unknown unit.
func unitName(unit bson.Raw, lang string) string {
	en, de := raw.StringField(unit, "name"), raw.StringField(unit, "name_de")
	if lang == "de" {
		return cmp.Or(de, en, "Einheit nicht gefunden")
	}
	return cmp.Or(en, de, "Unit not found")
}

// InPast reports whether end is a date before the day of now in now's location.
func InPast(end bson.RawValue, now time.Time) bool {
	last, ok := lastDay(end, now.Location())
	return ok && last < day(now.Date())
}

// day returns a number for a date; later dates have higher numbers.
func day(year int, month time.Month, day int) int {
	return (year*100+int(month))*100 + day
}

// lastDay returns the last day of a membership. It returns false if end is not a date.
func lastDay(end bson.RawValue, zone *time.Location) (int, bool) {
	if t, ok := end.TimeOK(); ok {
		return day(t.In(zone).Date()), true
	}
	if parts, ok := end.DocumentOK(); ok {
		return lastOfParts(parts)
	}
	s, _ := end.StringValueOK()
	s = strings.TrimSpace(s)
	if i := strings.IndexAny(s, "T "); i > 0 {
		s = s[:i]
	}
	if t, err := time.Parse("2006-1-2", s); err == nil {
		return day(t.Date()), true
	}
	if t, err := time.Parse("2006-1", s); err == nil {
		return day(t.Year(), t.Month(), 31), true // 31 is never before the month's last day
	}
	if t, err := time.Parse("2006", s); err == nil {
		return day(t.Year(), time.December, 31), true
	}
	return 0, false
}

// lastOfParts returns the last day of a date stored as {year, month, day}.
func lastOfParts(parts bson.Raw) (int, bool) {
	number := func(name string, otherwise int) int {
		if n, ok := parts.Lookup(name).AsInt64OK(); ok && n > 0 && n <= 9999 {
			return int(n)
		}
		return otherwise
	}
	year := number("year", 0)
	return day(year, time.Month(number("month", 12)), number("day", 31)), year > 0
}
