package params

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"vitrine/proxy/query"
	"vitrine/rules"
)

// dashed matches a range of years with a hyphen or a dash. Both years have four digits, because 2020-05 may be a
// month.
var dashed = regexp.MustCompile(`^(\d{4})\s*[-‐‑–—]\s*(\d{4})$`)

// year checks a value of Year: a year, a range of years, the last years, or Missing. It returns the canonical form.
func year(value string) (string, *rules.Error) {
	if value == Missing {
		return value, nil
	}
	if n, rolls := lastYears(value); rolls {
		return last + strconv.Itoa(n), nil
	}
	from, to, ok := Years(dashed.ReplaceAllString(value, "$1..$2"))
	first, end := strconv.Itoa(from), strconv.Itoa(to)
	switch {
	case !ok:
		return "", wrongf("want a year, a range such as 2018..2022, 2020.. or ..2010, last3 for this year and the "+
			"two before, or missing, got %s", query.Quote(value))
	case from > to:
		return "", wrongf("%s ends before it begins", query.Quote(value))
	case from == to:
		return first, nil
	case to == lastYear:
		end = ""
	case from == 0:
		first = ""
	}
	return first + ".." + end, nil
}

// last is the prefix of values of Year such as last3: this calendar year and the two before it.
const last = "last"

// lastYears returns the number of years that a value such as last3 means. ok is false for other values.
func lastYears(value string) (n int, ok bool) {
	text, ok := strings.CutPrefix(value, last)
	n, isNumber := digits(text)
	return n, ok && isNumber && 1 <= n && n <= 99
}

// Rolls reports whether the years that the query selects or excludes change with the calendar.
func (q Query) Rolls() bool {
	return slices.ContainsFunc(slices.Concat(q.Both(Year), q.Both(Not(Year))), func(value string) bool {
		_, rolls := lastYears(value)
		return rolls
	})
}

// lastYear is the end of a range without an end. A range without a start begins with the year 0.
const lastYear = 9999

// Calendar replaces a value of Year such as last3 by years: in the year 2026 by 2024..2026.
func Calendar(value string, thisYear int) string {
	n, rolls := lastYears(value)
	switch {
	case !rolls:
		return value
	case n == 1:
		return strconv.Itoa(thisYear)
	}
	return strconv.Itoa(thisYear-n+1) + ".." + strconv.Itoa(thisYear)
}

// Years returns the first and the last year of a value that Calendar has returned. ok is false for Missing.
func Years(value string) (from, to int, ok bool) {
	first, end, isRange := strings.Cut(value, "..")
	if !isRange {
		end = first
	}
	from, begins := digits(cmp.Or(first, "0"))
	to, ends := digits(cmp.Or(end, strconv.Itoa(lastYear)))
	return from, to, first+end != "" && begins && ends && max(from, to) <= lastYear
}
