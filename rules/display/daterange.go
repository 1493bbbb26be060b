package display

import (
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

// day is a stored date as text: of a point in time its day in UTC.
func day(v bson.RawValue) string {
	if v.Type == bson.TypeDateTime {
		return time.UnixMilli(v.DateTime()).UTC().Format(time.DateOnly)
	}
	return String(Text(v))
}
