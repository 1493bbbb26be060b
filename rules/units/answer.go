package units

import (
	"cmp"
	"strconv"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/date"
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

// InPast reports whether end is a date before the day of now in now's location. A month or a year ends on its last
// day.
func InPast(end bson.RawValue, now time.Time) bool {
	year, month, day := now.Date()
	return date.Read(end, now.Location()).Before(date.New(year, int(month), day))
}
