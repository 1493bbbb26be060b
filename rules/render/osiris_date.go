package render

// ongoingWords stand around the time of what goes on for months.
var ongoingWords = [languages]struct{ from, until, since string }{
	english: {"from ", " until ", "since "},
	german:  {"von ", " bis ", "seit "},
}

// appendOngoing appends the time of what takes months: "from May 2023 until June 2023",
// "since May 2023" if no end is known of what has a beginning, and a day of all else.
func appendOngoing(dst []byte, t span, begins bool, lang int) []byte {
	words := ongoingWords[lang]
	switch {
	case t.from.year == 0:
		return dst
	case t.running || begins && t.to.year == 0:
		return longMonths.date(append(dst, words.since...), t.from, lang)
	case t.to.year == 0 || t.to == t.from && !begins:
		return osirisDates.date(dst, t.from, lang)
	case t.from.year == t.to.year && t.from.month == t.to.month:
		return longMonths.date(dst, t.from, lang)
	}
	dst = longMonths.date(append(dst, words.from...), t.from, lang)
	return longMonths.date(append(dst, words.until...), t.to, lang)
}
