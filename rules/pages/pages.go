// Package pages reads where in a volume or a book a work is: pages, ranges of pages, and numbers of articles.
//
// Read returns stored pages in one form, Range and Parts their ends. A range may have any dash of Unicode between its
// ends, also as TeX writes it ("45--67"). Ends have a digit or are Roman numbers and have no space, so that
// "in-press", "COVID-19" and "Art. 5-7" are no ranges. Pages may contain hyphens themselves: of "12-1–12-9" and
// "12-1-12-9" the ends are 12-1 and 12-9, and "12-1" is one page, because no range ends before it begins. Ends
// without the digits that both have in common ("1203-12", "e12-3"), as PubMed writes them, stay as they are. Labels
// ("pp. 45", "S. 45") are no part of pages, nor are the words that publishers deposit at Crossref for unknown ones
// ("n/a-n/a", "no-no").
//
// All functions are pure, take linear time and never panic.
package pages

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Read returns stored pages with hyphens between the ends of ranges, or en dashes where a hyphen would be taken for a
// part of a page. It returns "" for texts that say that the pages are not known.
func Read(s string) string {
	if plain(s) {
		return s
	}
	s = unlabelled(strings.TrimSpace(s))
	if unknown(s) {
		return ""
	}
	return with(s, "-")
}

// Dashed returns pages from Read with en dashes in ranges, as people read them.
func Dashed(s string) string { return with(s, "–") }

// Range returns the first and the last page of one range. If pages are not one range, first is the whole text.
func Range(s string) (first, last string) {
	if strings.ContainsAny(s, ",;") {
		return s, ""
	}
	return ends(s)
}

// Parts yields the ranges and single pages of a text, which commas and semicolons separate, each with the separator
// after it. The last of a single page is "".
func Parts(s string) iter.Seq2[[2]string, string] {
	return func(yield func(ends [2]string, separator string) bool) {
		for s != "" {
			i := strings.IndexAny(s, ",;")
			if i < 0 {
				i = len(s)
			}
			end := len(s) - len(strings.TrimLeft(s[i:], ",; "))
			first, last := ends(strings.TrimSpace(s[:i]))
			if !yield([2]string{first, last}, s[i:end]) {
				return
			}
			s = s[end:]
		}
	}
}

// plain reports whether a text has nothing but digits, or two numbers with a hyphen between them, as nearly all do.
func plain(s string) bool {
	hyphen := strings.IndexByte(s, '-')
	for i := range len(s) {
		if i != hyphen && (s[i] < '0' || s[i] > '9') {
			return false
		}
	}
	return hyphen != 0 && hyphen != len(s)-1 && strings.Trim(s, "0-") != ""
}

// with writes a text with a dash between the ends of each range in it.
func with(s, dash string) string {
	if !strings.ContainsFunc(s, isDash) {
		return s
	}
	var b strings.Builder
	for r, separator := range Parts(s) {
		first, last := r[0], r[1]
		b.WriteString(first)
		if last != "" {
			between := dash
			if strings.ContainsFunc(first+last, isDash) || backwards(first, last) {
				between = "–"
			}
			b.WriteString(between + last)
		}
		b.WriteString(separator)
	}
	return b.String()
}

// labels precede pages. A label ends in a full stop or is followed by a space.
var labels = [...]string{"pages", "page", "pp", "pgs", "pg", "p", "seiten", "seite"}

// unlabelled returns pages without a label before them.
func unlabelled(s string) string {
	end := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) })
	if end <= 0 {
		return s
	}
	label, rest := strings.ToLower(s[:end]), s[end:]
	dotted := rest[0] == '.'
	known := slices.Contains(labels[:], label) || label == "s" && dotted // S 12 is a page of a supplement
	if !known || !dotted && rest[0] != ' ' {
		return s
	}
	rest = strings.TrimLeft(rest, ". ")
	if first, _ := ends(rest); isPage(first) || strings.ContainsFunc(rest, unicode.IsDigit) {
		return rest
	}
	return s
}

// unknowns stand in place of pages, or of both ends of a range.
var unknowns = [...]string{"n/a", "na", "n.a.", "no", "none", "null", "0", "00", "?", "??", "???", "tba", "tbd", ""}

func unknown(s string) bool {
	is := func(s string) bool { return slices.Contains(unknowns[:], strings.ToLower(strings.TrimSpace(s))) }
	if start, end, _ := dashes(s); start >= 0 {
		return is(s[:start]) && is(s[end:])
	}
	return is(s)
}

// ends returns the ends of a range. If s is not a range, first is s.
func ends(s string) (first, last string) {
	start, end, certain := dashes(s)
	if start < 0 {
		return s, ""
	}
	first, last = strings.TrimSpace(s[:start]), strings.TrimSpace(s[end:])
	if !isPage(first) || !isPage(last) || !certain && backwards(first, last) {
		return s, ""
	}
	return first, last
}

// isPage reports whether a text can be an end of a range.
func isPage(s string) bool {
	if s == "" || strings.ContainsFunc(s, unicode.IsSpace) {
		return false
	}
	return strings.ContainsFunc(s, unicode.IsDigit) || strings.Trim(strings.ToLower(s), "ivxlcdm") == ""
}

// backwards reports whether a range of numbers would end before it begins, even if the end lacks the first digits.
func backwards(first, last string) bool {
	if strings.Trim(first+last, "0123456789") != "" || len(last) >= len(first) {
		return false
	}
	return last < first[len(first)-len(last):]
}

func isDash(r rune) bool { return r == '-' || r >= utf8.RuneSelf && unicode.Is(unicode.Dash, r) }

// isHyphen reports whether a dash can be a part of a page.
func isHyphen(r rune) bool { return strings.ContainsRune("-\u2010\u2011\ufe63\uff0d", r) }

// dashes returns where the dashes between the ends of a range are, with the spaces around them, or -1. They are
// certain if they are no hyphen: a longer dash, several, or one between spaces. Of three alike, the one in the middle
// counts.
func dashes(s string) (start, end int, certain bool) {
	type run struct{ start, end int }
	var hyphens, certains [3]run
	var weak, strong int
	for at := 0; at < len(s); {
		i := strings.IndexFunc(s[at:], isDash)
		if i < 0 {
			break
		}
		from := at + i
		to := len(s) - len(strings.TrimLeftFunc(s[from:], func(r rune) bool { return r == ' ' || isDash(r) }))
		at = to
		r, size := utf8.DecodeRuneInString(s[from:])
		lone := from+size == to && isHyphen(r)
		switch {
		case lone && weak < 3:
			hyphens[weak] = run{from, to}
		case !lone && strong < 3:
			certains[strong] = run{from, to}
		}
		if lone {
			weak++
		} else {
			strong++
		}
	}
	n, runs := strong, certains
	if strong == 0 {
		n, runs = weak, hyphens
	}
	switch n {
	case 1:
		return runs[0].start, runs[0].end, strong > 0
	case 3:
		return runs[1].start, runs[1].end, true
	}
	return -1, -1, false
}
