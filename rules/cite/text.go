package cite

import (
	"html"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean returns an identifier or address as one line of valid UTF-8: without control characters,
// with one space for each run of white space, and without spaces at its ends. Most texts pass the
// first loop and are returned without a copy.
func clean(s string) string {
	for i, space := 0, true; i < len(s); i++ { // most texts are clean ASCII
		if s[i] < ' ' || s[i] >= 0x7f || s[i] == ' ' && space {
			return strings.TrimSpace(normalizeSpaces(s))
		}
		space = s[i] == ' '
	}
	return strings.TrimSuffix(s, " ")
}

// normalizeSpaces writes one space for runs of white space, control characters and noncharacters. A
// line break in a value would begin a new field in RIS; XML allows no control characters.
func normalizeSpaces(s string) string {
	s = strings.Map(func(r rune) rune { // Map writes U+FFFD for bytes that are not UTF-8
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' || r&0xfffe == 0xfffe {
			return ' '
		}
		return r
	}, s)
	for strings.Contains(s, "  ") {
		s = strings.ReplaceAll(s, "  ", " ")
	}
	return s
}

// parts yields the texts of a title, each with the tag before it, such as "<i>" or "</i>". The first tag is "".
//
//	"a<i>b</i>" → ("", "a"), ("<i>", "b"), ("</i>", "")
//
// Titles come from markup.Title, so every "<" begins a tag.
func parts(title string) iter.Seq2[string, string] {
	return func(yield func(tag, text string) bool) {
		for tag, more := "", true; more; tag = "<" + tag + ">" {
			var text string
			if text, title, more = strings.Cut(title, "<"); strings.Contains(text, "&") {
				text = html.UnescapeString(text)
			}
			if !yield(tag, text) {
				return
			}
			tag, title, _ = strings.Cut(title, ">")
		}
	}
}

// isLetter reports whether r can be part of a word: a letter, digit, mark or apostrophe. ASCII
// first, as most texts have nothing else.
func isLetter(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '\''
	}
	return r == '\u2019' || unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r)
}
