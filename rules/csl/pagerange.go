package csl

import (
	"strings"
	"unicode/utf8"
)

// pages renders the page variable. format is the page-range-format of the style (Appendix V), and the dash is that
// of the locale.
func (l *Locale) pages(s, format string) string {
	dash := l.dash()
	if format == "" {
		return dashed(s, dash)
	}
	var all strings.Builder
	for s != "" {
		i := strings.IndexAny(s, ",;&")
		if i < 0 {
			i = len(s)
		}
		all.WriteString(onePageRange(s[:i], format, dash))
		if i < len(s) {
			if s[i] == '&' {
				all.WriteString(" & ")
			} else {
				all.WriteString(s[i:i+1] + " ")
			}
			i++
		}
		s = strings.TrimLeft(s[i:], " ")
	}
	return all.String()
}

// dash returns the delimiter between the ends of a range.
func (l *Locale) dash() string {
	if t, ok := l.term("page-range-delimiter", "long"); ok && t.single != "" {
		return t.single
	}
	return "–"
}

// onePageRange renders one range or page.
func onePageRange(s, format, dash string) string {
	s = strings.TrimSpace(s)
	i := strings.IndexAny(s, "-–")
	if i <= 0 || s[i-1] == '\\' {
		return strings.ReplaceAll(s, `\-`, "-")
	}
	_, size := utf8.DecodeRuneInString(s[i:])
	first, last := strings.TrimSpace(s[:i]), strings.TrimSpace(s[i+size:])
	if !isPage(first) || !isPage(last) {
		return s
	}
	prefix, from := splitPage(first)
	_, to := splitPage(last)
	switch {
	case from == "" || to == "":
		return first + dash + last
	case !isRange(first, last):
		return first + "-" + last
	}
	full := to
	if len(to) < len(from) {
		full = from[:len(from)-len(to)] + to
	}
	if full < from && len(full) == len(from) {
		return first + dash + last
	}
	// The prefix of both ends is written once, unless ranges are whole.
	switch {
	case format == "expanded":
		return first + dash + prefix + full
	case len(full) != len(from):
		return first + dash + to
	}
	switch format {
	case "minimal":
		return first + dash + shortest(from, full, 1)
	case "minimal-two":
		return first + dash + shortest(from, full, 2)
	}
	return first + dash + chicago(from, full, format)
}

// splitPage splits a page into a prefix and its last digits. digits is "" if the page ends in something else.
func splitPage(s string) (prefix, digits string) {
	i := len(s)
	for i > 0 && s[i-1] >= '0' && s[i-1] <= '9' {
		i--
	}
	return s[:i], s[i:]
}

// shortest returns the last digits of to, from the first that differs from that of from on, but at least n.
func shortest(from, to string, n int) string {
	i := 0
	for i < len(to)-n && from[i] == to[i] {
		i++
	}
	return to[i:]
}

// chicago shortens the last page as the Chicago Manual of Style has it.
func chicago(from, to, format string) string {
	switch n := len(from); {
	case n < 3 || from[n-2:] == "00":
		return to
	case from[n-2] == '0':
		return shortest(from, to, 1)
	case n == 4 && format != "chicago-16":
		if short := shortest(from, to, 2); len(short) < 3 {
			return short
		}
		return to
	}
	return shortest(from, to, 2)
}
