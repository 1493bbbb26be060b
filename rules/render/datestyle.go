package render

import (
	"fmt"
	"slices"
	"strconv"

	"vitrine/rules/date"
)

// A pattern is the format of a date, one letter for each part: d the day, D the day in two digits,
// m the short name of the month, F its full name, M its number in two digits, y the year. All other
// characters stand for themselves. Characters beyond ASCII are copied byte by byte.
type pattern string

// dateStyle is the style in which a language, or OSIRIS, writes dates and ranges of dates.
type dateStyle struct {
	day, month, year pattern // patterns by the date's smallest known part

	// Patterns for the start of a range, without the parts that it shares with the end: for days within one month,
	// days within one year, and months within one year. If empty, the start has all parts.
	inMonth, inYear, monthInYear pattern

	tight string // separator between two ends that are single numbers
	dash  string // separator between other ends
	today string // the text for the end of a running activity; if empty, only the start is written
}

// dateStyles are the styles of the languages: "14–16 May 2022", "28 Apr – 2 May 2022", "30 Dec 2022
// – 2 Jan 2023", "Apr – May 2022", "2021–2023", "4 Mar 2022 – today". A separator between two
// numbers is tight; with words at its side it has spaces.
var dateStyles = [languages]dateStyle{
	english: {
		day: "d m y", month: "m y", year: "y", inMonth: "d", inYear: "d m", monthInYear: "m",
		tight: "–", dash: " – ", today: "today",
	},
	german: {
		day: "d. m y", month: "m y", year: "y", inMonth: "d.", inYear: "d. m", monthInYear: "m",
		tight: "–", dash: " – ", today: "heute",
	},
}

// Styles that are the same in all languages.
var (
	// osirisDates is the style of OSIRIS in every language: "04.-06.05.2023", "30.04.-02.05.2023",
	// "30.12.2022-02.01.2023", "05.2023".
	osirisDates = dateStyle{day: "D.M.y", month: "M.y", year: "y", inMonth: "D.", inYear: "D.M.", tight: "-",
		dash: "-"}

	// longMonths writes a month in full and no day: "May 2023".
	longMonths = dateStyle{day: "F y", month: "F y", year: "y"}
)

// monthNames has the names of the months by language. German abbreviations end in a full stop.
var monthNames = [languages]struct{ short, full [12]string }{
	english: {
		[12]string{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"},
		[12]string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
			"November", "December"},
	},
	german: {
		[12]string{"Jan.", "Feb.", "März", "Apr.", "Mai", "Juni", "Juli", "Aug.", "Sep.", "Okt.", "Nov.", "Dez."},
		[12]string{"Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober",
			"November", "Dezember"},
	},
}

// append appends d, which must have all parts in the pattern. Language decides about the names of
// months.
func (how pattern) append(dst []byte, d date.Date, lang int) []byte {
	for i := range len(how) {
		switch how[i] {
		case 'd':
			dst = strconv.AppendInt(dst, int64(d.Day), 10)
		case 'D':
			dst = fmt.Appendf(dst, "%02d", d.Day)
		case 'm':
			dst = append(dst, monthNames[lang].short[d.Month-1]...)
		case 'F':
			dst = append(dst, monthNames[lang].full[d.Month-1]...)
		case 'M':
			dst = fmt.Appendf(dst, "%02d", d.Month)
		case 'y':
			dst = strconv.AppendInt(dst, int64(d.Year), 10)
		default:
			dst = append(dst, how[i])
		}
	}
	return dst
}

// date appends the known parts of d. A date without a month has no day either (package date).
func (s *dateStyle) date(dst []byte, d date.Date, lang int) []byte {
	switch {
	case d.Year == 0:
		return dst
	case d.Month == 0:
		return s.year.append(dst, d, lang)
	case d.Day == 0:
		return s.month.append(dst, d, lang)
	}
	return s.day.append(dst, d, lang)
}

// span appends a range without repeating what both ends share. If one end is known less exactly
// than the other, the start is written in full.
func (s *dateStyle) span(dst []byte, t span, lang int) []byte {
	switch {
	case t.from.Year == 0:
		return dst
	case t.running && s.today != "":
		return append(append(s.date(dst, t.from, lang), s.dash...), s.today...)
	case t.to.Year == 0 || t.to == t.from:
		return s.date(dst, t.from, lang)
	}
	var first pattern
	between := s.dash
	switch {
	case t.from.Month == 0 && t.to.Month == 0:
		between = s.tight
	case t.from.Year != t.to.Year || t.from.Month == 0 || t.to.Month == 0 || (t.from.Day > 0) != (t.to.Day > 0):
	case t.from.Day == 0:
		first = s.monthInYear
	case t.from.Month == t.to.Month:
		first, between = s.inMonth, s.tight
	default:
		first = s.inYear
	}
	if first == "" {
		dst = s.date(dst, t.from, lang)
	} else {
		dst = first.append(dst, t.from, lang)
	}
	return s.date(append(dst, between...), t.to, lang)
}

// Period returns a date, or the range from a date to another one, in a language: "14–16 May 2022".
// An unknown language is English.
func Period(from, to date.Date, language string) string {
	lang := max(slices.Index(languageCodes[:], language), english)
	return string(dateStyles[lang].span(nil, span{from: from, to: to}, lang))
}

// ongoingWords has the words around the dates of an activity of several months.
var ongoingWords = [languages]struct{ from, until, since string }{
	english: {"from ", " until ", "since "},
	german:  {"von ", " bis ", "seit "},
}

// appendOngoing appends the period of an activity of several months: "from May 2023 until June
// 2023", or "since May 2023" if begins is set and there is no end. For any other activity it
// appends the day. begins says that the activity has a start in parts.
func appendOngoing(dst []byte, t span, begins bool, lang int) []byte {
	words := ongoingWords[lang]
	switch {
	case t.from.Year == 0:
		return dst
	case t.running || begins && t.to.Year == 0:
		return longMonths.date(append(dst, words.since...), t.from, lang)
	case t.to.Year == 0 || t.to == t.from && !begins:
		return osirisDates.date(dst, t.from, lang)
	case t.from.Year == t.to.Year && t.from.Month == t.to.Month:
		return longMonths.date(dst, t.from, lang)
	}
	dst = longMonths.date(append(dst, words.from...), t.from, lang)
	return longMonths.date(append(dst, words.until...), t.to, lang)
}

// span is the period of an activity. With from alone it is a moment; running means that it has no end yet.
type span struct {
	from, to date.Date
	running  bool // the stored end is null; quarter and range end "today"
}
