package markup

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// CutText returns the beginning of a text, of at most size bytes and cut between two characters. It returns a text
// unchanged that is not longer. It never cuts within a character. A letter and a combining mark may still be cut
// apart.
func CutText(s string, size int) string {
	if len(s) <= size {
		return s
	}
	for size > 0 && !utf8.RuneStart(s[size]) {
		size--
	}
	return s[:size]
}

// Cut returns the beginning of HTML whose elements are properly nested, such as Clean's, and closes the elements
// that it cuts. It takes at most size bytes before it closes them, and returns HTML unchanged that is not longer.
// The result is longer than size by the end tags alone. Bytes and not characters, because the limits of lists are
// bounds of memory.
func Cut(s string, size int) string {
	if len(s) <= size {
		return s
	}
	var open []string
	end := 0
	for end < size {
		next := end + sizeOf(s[end:])
		if next > size {
			break
		}
		if s[end] == '<' {
			switch name, ends := tagName(s[end:next]); {
			case ends && len(open) > 0:
				open = open[:len(open)-1]
			case !ends && !slices.Contains(voidElements, name):
				open = append(open, name)
			}
		}
		end = next
	}
	return string(closeAll([]byte(s[:end]), open))
}

// voidElements are the elements of citations and lists that have no end tag.
var voidElements = []string{"br", "input"}

// sizeOf returns how many bytes the tag, the character reference or the character takes with which HTML begins.
// These three are units that must not be cut: &am or <b hr would be text. A "<" or "&" alone is a character.
func sizeOf(s string) int {
	switch s[0] {
	case '<':
		if end := strings.IndexByte(s, '>'); end > 0 {
			return end + 1
		}
	case '&':
		end := 1
		for end < len(s) && (alnum(s[end]) || s[end] == '#') {
			end++
		}
		if end < len(s) && s[end] == ';' {
			return end + 1
		}
	}
	_, size := utf8.DecodeRuneInString(s)
	return size
}
