package render

import (
	"fmt"
	"strconv"
)

// appendOsirisDate appends a date as OSIRIS writes it in every language: "04.05.2023",
// "05.2023", "2023".
func appendOsirisDate(dst []byte, d date) []byte {
	switch {
	case d.year == 0:
		return dst
	case d.month == 0:
		return strconv.AppendInt(dst, int64(d.year), 10)
	case d.day == 0:
		return fmt.Appendf(dst, "%02d.%d", d.month, d.year)
	}
	return fmt.Appendf(dst, "%02d.%02d.%d", d.day, d.month, d.year)
}

// appendOsirisSpan appends a range without repeating what both ends share:
// "04.-06.05.2023", "30.04.-02.05.2023", "30.12.2022-02.01.2023".
func appendOsirisSpan(dst []byte, t span) []byte {
	switch {
	case t.to.year == 0 || t.to == t.from:
		return appendOsirisDate(dst, t.from)
	case t.from.day == 0 || t.to.day == 0 || t.from.year != t.to.year:
		dst = appendOsirisDate(dst, t.from)
	case t.from.month != t.to.month:
		dst = fmt.Appendf(dst, "%02d.%02d.", t.from.day, t.from.month)
	default:
		dst = fmt.Appendf(dst, "%02d.", t.from.day)
	}
	return appendOsirisDate(append(dst, '-'), t.to)
}

// appendOngoing appends the time of what takes months: "from May 2023 until June 2023",
// "since May 2023" if no end is known of what has a beginning, and a day of all else.
func appendOngoing(dst []byte, t span, begins bool, lang int) []byte {
	words := [languages][3]string{english: {"from ", " until ", "since "}, german: {"von ", " bis ", "seit "}}[lang]
	switch {
	case t.from.year == 0:
		return dst
	case t.running || begins && t.to.year == 0:
		return appendMonth(append(dst, words[2]...), t.from, lang)
	case t.to.year == 0 || t.to == t.from && !begins:
		return appendOsirisDate(dst, t.from)
	case t.from.year == t.to.year && t.from.month == t.to.month:
		return appendMonth(dst, t.from, lang)
	}
	dst = appendMonth(append(dst, words[0]...), t.from, lang)
	return appendMonth(append(dst, words[1]...), t.to, lang)
}

// appendMonth appends "May 2023", or "2023" if the month is unknown.
func appendMonth(dst []byte, d date, lang int) []byte {
	if name := monthName(d, lang); name != "" {
		dst = append(append(dst, name...), ' ')
	}
	return strconv.AppendInt(dst, int64(d.year), 10)
}

// monthName returns a date's month in full, "" if it is unknown.
func monthName(d date, lang int) string {
	if d.month == 0 {
		return ""
	}
	return monthNames[lang][d.month-1]
}
