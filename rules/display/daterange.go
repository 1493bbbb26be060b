package display

import (
	"cmp"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/label"
)

// DateRange returns a record's period by its stored days: "2022-07-01 - 2023-12-31", one day if the other is missing,
// "2022-07-01 - today" if end_date is null, and Nothing if both are missing.
func (s Style) DateRange(row bson.Raw) string {
	start, end := s.day(row.Lookup("start_date")), row.Lookup("end_date")
	until := s.day(end)
	switch {
	case start == "" && until == "":
		return Nothing
	case start == "":
		return until
	case end.Type == bson.TypeNull:
		return start + " - " + s.Labels.Label(label.Text, "today", s.Lang)
	case until == "" || until == start:
		return start
	}
	return start + " - " + until
}

// calendarDay returns a date in OSIRIS's display format, "01.07.2022". The value is {year, month, day}, a point in
// time or "2022-07-01". Missing parts are left out, as in "07.2022". Other text stays unchanged.
func (s Style) calendarDay(v bson.RawValue) string {
	const layout = "02.01.2006"
	doc, ok := v.DocumentOK()
	if !ok {
		text := s.day(v)
		if t, err := time.Parse(time.DateOnly, text); err == nil {
			return t.Format(layout)
		}
		return text
	}
	var parts []string
	for _, key := range []string{"day", "month", "year"} {
		if text := Text(doc.Lookup(key)); text != "" {
			parts = append(parts, strings.Repeat("0", max(0, 2-len(text)))+text)
		}
	}
	return inert(strings.Join(parts, "."))
}

// day returns a stored date as text; for a point in time its day in the style's zone.
func (s Style) day(v bson.RawValue) string {
	if v.Type == bson.TypeDateTime {
		return v.Time().In(cmp.Or(s.Zone, time.UTC)).Format(time.DateOnly)
	}
	return String(Text(v))
}
