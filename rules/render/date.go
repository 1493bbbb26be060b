package render

import (
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/date"
	"vitrine/rules/raw"
)

// span returns the activity's period. It starts at start_date or start or, if that has no month, at
// year, month and day. It ends at end_date or end. If end_date is null, the activity is still
// running. An end before the start is ignored. Later fields only add what the first leaves open, so
// a year that contradicts the start does not win.
func (p *page) span() span {
	start, end := p.values[slotStart], p.values[slotEnd]
	if p.rules.dateParts {
		start, end = p.dateParts(start, end)
	}
	s := span{from: p.first(start, p.values[slotStartParts])}
	if s.from.Month == 0 {
		stored := date.Read(p.values[slotYear], p.zone).With(p.values[slotMonth], p.values[slotDay])
		if s.from.Year == 0 || s.from.Year == stored.Year {
			s.from = stored
		}
	}
	if s.from.Year == 0 {
		return span{}
	}
	s.running = end.Type == bson.TypeNull
	if s.running {
		return s
	}
	if to := p.first(end, p.values[slotEndParts]); to.Year != 0 && !to.Before(s.from) {
		s.to = to
	}
	return s
}

// first returns the first of two stored values that is a date.
func (p *page) first(one, other bson.RawValue) date.Date {
	if d := date.Read(one, p.zone); d.Year != 0 {
		return d
	}
	return date.Read(other, p.zone)
}

// dateParts returns start and end, and uses the parts of a date if one is missing. An activity
// without an end continues only if its subtype is ongoing. For other subtypes the start is also the
// end. OSIRIS stores parts of dates in start and end, and derives start_date and end_date from them
// (see Fill).
func (p *page) dateParts(start, end bson.RawValue) (from, to bson.RawValue) {
	if raw.IsNone(start) {
		start = p.values[slotStartParts]
	}
	given := p.values[slotEndParts]
	if p.sub.ongoing && raw.IsNone(given) &&
		(raw.IsNone(end) || date.Read(end, p.zone) == date.Read(p.values[slotStart], p.zone)) {
		return start, bson.RawValue{Type: bson.TypeNull}
	}
	if raw.IsNone(end) {
		end = given
	}
	if raw.IsNone(end) {
		end = bson.RawValue{}
	}
	return start, end
}

// appendQuarter appends the quarters of s: "2023Q1", "2023Q1 - Q3", "2023Q4 - 2024Q1", "2023Q1 -
// today". It appends nothing if the month of its start is unknown. The words are English in every
// language.
func (s span) appendQuarter(dst []byte) []byte {
	if s.from.Month == 0 {
		return dst
	}
	dst = appendQuarterOf(dst, s.from)
	switch {
	case s.running:
		return append(dst, " - today"...)
	case s.to.Month == 0 || s.to.Year == s.from.Year && quarter(s.to) == quarter(s.from):
		return dst
	case s.to.Year == s.from.Year:
		return append(append(dst, " - Q"...), byte('0'+quarter(s.to)))
	}
	return appendQuarterOf(append(dst, " - "...), s.to)
}

// quarter returns 1 to 4 for a date with a month.
func quarter(d date.Date) int { return (d.Month-1)/3 + 1 }

// appendQuarterOf appends "2023Q1".
func appendQuarterOf(dst []byte, d date.Date) []byte {
	dst = strconv.AppendInt(dst, int64(d.Year), 10)
	return append(dst, 'Q', byte('0'+quarter(d)))
}
