package compare

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mostShown is how many characters of a value, a path or an id reports show.
const mostShown = 300

// index matches the index of a row in a path.
var index = regexp.MustCompile(`\[\d+\]`)

// excerpts returns the parts of two values with the place where they part. Long texts often differ behind what they
// would be shortened to.
func excerpts(old, new string) (string, string) {
	same := 0
	for same < min(len(old), len(new)) && old[same] == new[same] {
		same++
	}
	from := same - mostShown/4
	if max(len(old), len(new)) <= mostShown || from <= mostShown/4 {
		return shorten(old), shorten(new)
	}
	for from > 0 && !utf8.RuneStart(old[from]) {
		from--
	}
	return shorten("…" + old[from:]), shorten("…" + new[from:])
}

// shorten returns the beginning of a text, without characters that control a terminal. It cuts between characters,
// and marks the cut by "…".
func shorten(text string) string {
	runes := 0
	for at := range text {
		if runes++; runes > mostShown {
			text = text[:at] + "…"
			break
		}
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
}
