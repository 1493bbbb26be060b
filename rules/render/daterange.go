package render

import "strconv"

// dateStyle is how a language writes dates.
type dateStyle struct {
	months [12]string
	dot    string // after the day of the month
	today  string // end of what is still running
}

var dateStyles = [languages]dateStyle{
	english: {
		months: [12]string{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"},
		today:  "today",
	},
	german: {
		months: [12]string{"Jan.", "Feb.", "März", "Apr.", "Mai", "Juni", "Juli", "Aug.", "Sep.", "Okt.", "Nov.", "Dez."},
		dot:    ".",
		today:  "heute",
	},
}

// date appends d: "14 May 2022" or "14. Mai 2022", "May 2022", "2022".
func (s *dateStyle) date(dst []byte, d date) []byte {
	if d.year == 0 {
		return dst
	}
	if d.day > 0 {
		dst = append(s.day(dst, d), ' ')
	}
	if d.month > 0 {
		dst = append(append(dst, s.months[d.month-1]...), ' ')
	}
	return strconv.AppendInt(dst, int64(d.year), 10)
}

func (s *dateStyle) day(dst []byte, d date) []byte {
	return append(strconv.AppendInt(dst, int64(d.day), 10), s.dot...)
}

// span appends a range without repeating what both ends share: "14–16 May 2022",
// "28 Apr – 2 May 2022", "30 Dec 2022 – 2 Jan 2023", "Apr – May 2022", "2021–2023".
func (s *dateStyle) span(dst []byte, t span) []byte {
	switch {
	case t.from.year == 0:
		return dst
	case t.running:
		return append(append(s.date(dst, t.from), " – "...), s.today...)
	case t.to.year == 0 || t.to == t.from:
		return s.date(dst, t.from)
	case t.from.month == 0 && t.to.month == 0:
		return s.date(append(s.date(dst, t.from), "–"...), t.to)
	}
	if t.from.year == t.to.year && t.from.month > 0 && t.to.month > 0 && (t.from.day > 0) == (t.to.day > 0) {
		if t.from.day > 0 {
			dst = s.day(dst, t.from)
			if t.from.month == t.to.month {
				return s.date(append(dst, "–"...), t.to)
			}
			dst = append(dst, ' ')
		}
		dst = append(append(dst, s.months[t.from.month-1]...), " – "...)
		return s.date(dst, t.to)
	}
	return s.date(append(s.date(dst, t.from), " – "...), t.to)
}
