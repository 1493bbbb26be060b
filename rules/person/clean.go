package person

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"vitrine/rules/markup"
)

// clean returns a stored name as one line of valid UTF-8 without markup, e-mail addresses and footnote signs at its
// ends. E-mail addresses go first, because the brackets around them would be read as markup; footnotes last,
// because markup may hide them: "Ada Quill<sup>1,*</sup> &lt;ada@example.org&gt;" becomes "Ada Quill".
func clean(s string) string {
	if isClean(s) {
		return s
	}
	if strings.IndexByte(s, '@') >= 0 {
		s = cutAddresses(s)
	}
	return trimNotes(words(cutSups(s)))
}

// isClean reports whether clean returns s unchanged. It holds for most names. It accepts letters, the signs of
// names, and single blanks. In doubt it returns false, which costs only time.
func isClean(s string) bool {
	space := true
	for i := 0; i < len(s); {
		c := s[i]
		isLetter := c|0x20 >= 'a' && c|0x20 <= 'z'
		switch {
		case isLetter, c == '.', c == '-', c == '\'', !space && (c == ' ' || (c == ',' || c == ';') && i < len(s)-1):
			space = c == ' '
			i++
			continue
		case c < utf8.RuneSelf:
			return false
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if !unicode.IsLetter(r) && !unicode.Is(unicode.Mn, r) || isNote(r) || r == utf8.RuneError {
			return false
		}
		space = false
		i += size
	}
	return !space || s == ""
}

// words returns the words of a stored text, separated by single spaces. Full-width commas and semicolons become
// those that separate names elsewhere in this package.
func words(s string) string {
	if strings.ContainsAny(s, "<&") {
		s = markup.Plain(s)
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r), unicode.IsSpace(r), r&0xfffe == 0xfffe:
			return ' '
		case r == '\u200b' || r == '\ufeff' || r == '\u00ad': // without width, and without meaning for the script
			return -1
		case r == '，':
			return ','
		case r == '；' || r == '、':
			return ';'
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// isNote reports whether a character is a footnote sign or a superscript. A "#" at the beginning of a name stays
// all the same (trimNotes).
func isNote(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r == '*' || r == '#'
	case r == '²' || r == '³' || r == '¹':
		return true
	case r < 0x1d2c:
		return r == '§' || r == '¶'
	}
	return r <= 0x1d6a || 0x2070 <= r && r <= 0x207f || strings.ContainsRune("†‡‖∗∥⁎✱★☆✉✝✦", r)
}

// trimNotes cuts footnote signs, numbers of footnotes in brackets, and commas that separate them, from the ends of
// a name. "Quill (1)", "Quill [2,3]" and "Quill ¹,*" become Quill. It goes on until nothing changes, since notes
// follow each other.
func trimNotes(s string) string {
	s = strings.TrimLeftFunc(s, func(r rune) bool {
		return r == ' ' || r == ',' || r == ';' || r != '#' && isNote(r)
	})
	for {
		t := strings.TrimRightFunc(s, func(r rune) bool { return r == ' ' || r == ',' || r == ';' || isNote(r) })
		if open := strings.LastIndexAny(t, "(["); open > 0 {
			if end := strings.Trim(t[open+1:], "0123456789,* "); end == ")" || end == "]" {
				t = t[:open]
			}
		}
		if len(t) == len(s) {
			return s
		}
		s = t
	}
}

// cutSups cuts sup elements with marks of footnotes. One before a letter is part of a name: M<sup>c</sup>Donald. It
// runs before the markup is read, which would leave the digits of a footnote as a part of the name.
func cutSups(s string) string {
	if strings.IndexByte(s, '<') < 0 {
		return s
	}
	var b strings.Builder
	for {
		start := indexFold(s, "<sup>")
		if start < 0 {
			break
		}
		size := indexFold(s[start:], "</sup>")
		if size < 0 {
			break
		}
		end := start + size + len("</sup>")
		b.WriteString(s[:start])
		if next, _ := utf8.DecodeRuneInString(s[end:]); unicode.IsLetter(next) {
			b.WriteString(s[start:end])
		}
		s = s[end:]
	}
	b.WriteString(s)
	return b.String()
}

// indexFold is strings.Index for a tag in small letters, without regard to case.
func indexFold(s, tag string) int {
	for from := 0; ; {
		i := strings.IndexByte(s[from:], '<')
		if i < 0 || len(s) < from+i+len(tag) {
			return -1
		}
		if i += from; strings.EqualFold(s[i:i+len(tag)], tag) {
			return i
		}
		from = i + 1
	}
}

// cutAddresses cuts e-mail addresses with their labels and the brackets around them. It looks from each "@" to both
// sides, so that it takes linear time. An "@" without a dot behind it is no address.
func cutAddresses(s string) string {
	var b strings.Builder
	for {
		at := strings.IndexByte(s, '@')
		if at < 0 {
			break
		}
		from, to := at, at+1
		for from > 0 && inAddress(s[from-1]) {
			from--
		}
		for to < len(s) && inAddress(s[to]) {
			to++
		}
		if from == at || strings.IndexByte(s[at:to], '.') < 0 {
			b.WriteString(s[:to])
			s = s[to:]
			continue
		}
		before, after := cutLabel(s[:from]), s[to:]
		for _, pair := range [][2]string{{"<", ">"}, {"(", ")"}, {"[", "]"}, {"&lt;", "&gt;"}} {
			if strings.HasSuffix(before, pair[0]) && strings.HasPrefix(after, pair[1]) {
				before, after = before[:len(before)-len(pair[0])], after[len(pair[1]):]
			}
		}
		b.WriteString(before)
		b.WriteByte(' ')
		s = after
	}
	b.WriteString(s)
	return b.String()
}

// inAddress reports whether an address may have a byte on either side of its "@".
func inAddress(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("._%+-", c) >= 0
}

// cutLabel cuts the label of an e-mail address from the end of a text. "Ada Quill, E-Mail: ada@example.org" so
// becomes Ada Quill.
func cutLabel(s string) string {
	for _, label := range []string{"mailto:", "e-mail:", "email:", "mail:"} {
		if t := strings.TrimRight(s, " "); len(t) >= len(label) && strings.EqualFold(t[len(t)-len(label):], label) {
			return t[:len(t)-len(label)]
		}
	}
	return s
}
