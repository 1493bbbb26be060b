package render

import (
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// date is a day, a month (Day 0) or a year (Month 0); Year 0 is no date at all.
type date struct{ year, month, day int }

// maxYear bounds what counts as a year.
const maxYear = 9999

// newDate returns as much of year, month and day as makes sense.
func newDate(year, month, day int) date {
	switch {
	case year < 1 || year > maxYear:
		return date{}
	case month < 1 || month > 12:
		return date{year: year}
	case day < 1 || day > daysIn(year, month):
		return date{year: year, month: month}
	}
	return date{year, month, day}
}

// daysIn returns the number of days of a month. Day 0 is the last day of the month before.
func daysIn(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// parseDate reads the stored forms of a date: "2021-08-01" (a time of day may
// follow), "2021-08", "2021", a BSON date in zone, {year, month, day}.
func parseDate(v bson.RawValue, zone *time.Location) date {
	switch v.Type {
	case bson.TypeString:
		return parseDateText(text(v))
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDouble:
		year, _ := integer(v)
		return newDate(year, 0, 0)
	case bson.TypeDateTime:
		year, month, day := v.Time().In(zone).Date()
		return newDate(year, int(month), day)
	case bson.TypeEmbeddedDocument:
		return dateOf(lookup(v, "year"), lookup(v, "month"), lookup(v, "day"))
	}
	return date{}
}

// dateOf returns the date of stored numbers.
func dateOf(year, month, day bson.RawValue) date {
	y, _ := integer(year)
	m, _ := integer(month)
	d, _ := integer(day)
	return newDate(y, m, d)
}

// parseDateText reads "2021-08-01", "2021-08" or "2021", and ignores a time behind the date.
func parseDateText(s string) date {
	if i := strings.IndexAny(s, "T "); i > 0 {
		s = s[:i]
	}
	var parts [3]int
	for i := range parts {
		part, rest, more := strings.Cut(s, "-")
		n, err := strconv.ParseUint(part, 10, 16)
		if err != nil || i == 0 && len(part) != 4 || len(part) > 4 {
			return date{}
		}
		parts[i] = int(n)
		if !more {
			return newDate(parts[0], parts[1], parts[2])
		}
		s = rest
	}
	return date{}
}

// before reports whether d ends before e begins. It compares the parts that both have.
func (d date) before(e date) bool {
	if d.year != e.year || d.month == 0 || e.month == 0 {
		return d.year < e.year
	}
	if d.month != e.month || d.day == 0 || e.day == 0 {
		return d.month < e.month
	}
	return d.day < e.day
}

// span is the time an activity takes: from alone is a moment, running has no end yet.
type span struct {
	from, to date
	// running comes with an end of null. The quarter and the range then end "today".
	running bool
}

// span returns the activity's time. It starts at start_date; without start_date, or without
// a month in it, at year, month and day. An end_date of null says that the activity is
// still running. An end before the start is ignored.
func (p *page) span() span {
	start, end := p.values[slotStart], p.values[slotEnd]
	if parts := p.rules.parts; parts != nil {
		start, end = p.dateParts(*parts, start, end)
	}
	s := span{from: parseDate(start, p.zone)}
	if s.from.month == 0 {
		if stored := dateOf(p.values[slotYear], p.values[slotMonth], p.values[slotDay]); s.from.year == 0 || s.from.year == stored.year {
			s.from = stored
		}
	}
	if s.from.year == 0 {
		return span{}
	}
	s.running = end.Type == bson.TypeNull
	if to := parseDate(end, p.zone); to.year != 0 && !to.before(s.from) {
		s.to = to
	}
	return s
}

// dateParts returns start and end; the parts of a date replace a missing one. An activity
// without an end continues only if its subtype is ongoing. For such subtypes OSIRIS itself
// stores the start as end_date where end is missing.
func (p *page) dateParts(parts datePartSlots, start, end bson.RawValue) (from, to bson.RawValue) {
	if absent(start) {
		start = p.values[parts.start]
	}
	given := p.values[parts.end]
	if p.sub.ongoing && absent(given) && (absent(end) || parseDate(end, p.zone) == parseDate(p.values[slotStart], p.zone)) {
		return start, bson.RawValue{Type: bson.TypeNull}
	}
	if absent(end) {
		end = given
	}
	if absent(end) {
		end = bson.RawValue{}
	}
	return start, end
}

// appendQuarter appends the quarters of s: "2023Q1", "2023Q1 - Q3",
// "2023Q4 - 2024Q1", "2023Q1 - today"; nothing if the month of its start is unknown.
func (s span) appendQuarter(dst []byte) []byte {
	if s.from.month == 0 {
		return dst
	}
	dst = appendQuarterOf(dst, s.from)
	switch {
	case s.running:
		return append(dst, " - today"...)
	case s.to.month == 0 || s.to.year == s.from.year && quarter(s.to) == quarter(s.from):
		return dst
	case s.to.year == s.from.year:
		return append(append(dst, " - Q"...), byte('0'+quarter(s.to)))
	}
	return appendQuarterOf(append(dst, " - "...), s.to)
}

// quarter returns 1 to 4 for a date with a month.
func quarter(d date) int { return (d.month-1)/3 + 1 }

// appendQuarterOf appends "2023Q1".
func appendQuarterOf(dst []byte, d date) []byte {
	dst = strconv.AppendInt(dst, int64(d.year), 10)
	return append(dst, 'Q', byte('0'+quarter(d)))
}
