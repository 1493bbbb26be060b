package display

import (
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/label"
)

// DateRange returns the time a record takes, by its stored days: "2022-07-01 -
// 2023-12-31", one day alone where the other is missing, and "2022-07-01 - today"
// where end_date is there but null; Nothing without either.
func (s Style) DateRange(row bson.Raw) string {
	start, end := day(row.Lookup("start_date")), row.Lookup("end_date")
	until := day(end)
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

// calendarDay is a date as OSIRIS shows it to people, "01.07.2022", of {year, month, day},
// of a point in time or of "2022-07-01"; what is not known is left out: "07.2022". Other
// text stays as it is.
func calendarDay(v bson.RawValue) string {
	const layout = "02.01.2006"
	doc, ok := v.DocumentOK()
	if !ok {
		text := day(v)
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

// day is a stored date as text: of a point in time its day in UTC.
func day(v bson.RawValue) string {
	if v.Type == bson.TypeDateTime {
		return time.UnixMilli(v.DateTime()).UTC().Format(time.DateOnly)
	}
	return String(Text(v))
}
