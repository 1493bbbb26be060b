package markup

import (
	"html"
	"slices"
	"strings"
	"unicode/utf8"
)

// Title returns a stored title as HTML. The elements i b em strong sub sup stay, without
// attributes, closed and in order. Character references stay. All other markup is
// escaped and so shown as typed.
func Title(s string) string {
	if plainText(s) {
		return s
	}
	return string(AppendTitle(nil, s))
}

// plainText reports whether s reads the same as HTML and as text.
func plainText(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] == '<' || s[i] == '>' || s[i] == '&' || control(s[i]) {
			return false
		}
	}
	return utf8.ValidString(s)
}

// AppendTitle appends Title(s) to dst.
func AppendTitle(dst []byte, s string) []byte {
	var stack [maxDepth]string
	open := stack[:0]
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '<':
			name, end, size := titleTag(s[i:])
			if size == 0 {
				dst = append(dst, "&lt;"...)
				i++
				continue
			}
			i += size
			dst, open = titleElement(dst, open, name, end)
		case c == '&':
			if n := reference(s[i:]); n > 0 {
				dst = append(dst, s[i:i+n]...)
				i += n
				continue
			}
			dst = append(dst, "&amp;"...)
			i++
		case c == '>':
			dst = append(dst, "&gt;"...)
			i++
		default:
			n := 1
			dst, n = appendRune(dst, s[i:])
			i += n
		}
	}
	return closeAll(dst, open)
}

// titleElement appends a start or end tag and keeps elements in order: an end tag also
// closes the elements opened inside. It drops an end tag without a start tag and a start
// tag nested too deep.
func titleElement(dst []byte, open []string, name string, end bool) ([]byte, []string) {
	if !end {
		if len(open) == maxDepth {
			return dst, open
		}
		dst = append(dst, '<')
		dst = append(dst, name...)
		return append(dst, '>'), append(open, name)
	}
	return closeThrough(dst, open, name)
}

// maxTitleTag bounds the length of a tag in a title, so that a title of many "<" takes
// linear time.
const maxTitleTag = 256

// titleTag reads a tag allowed in titles at the start of s and skips its attributes. Size
// 0 means that there is none.
func titleTag(s string) (name string, end bool, size int) {
	gt := strings.IndexByte(s[:min(len(s), maxTitleTag)], '>')
	if gt < 0 || strings.IndexByte(s[1:gt], '<') >= 0 {
		return "", false, 0
	}
	name, end = tagName(s[:gt])
	after := 1 + len(name)
	if end {
		after++
	}
	if !slices.Contains(titleElements, name) || !(after == gt || s[after] == ' ') {
		return "", false, 0
	}
	return name, end, gt + 1
}

// maxReference bounds the length of a character reference, "&" and ";" included.
const maxReference = 34

// reference returns the size of the character reference at the start of s, or 0 if its
// "&" is a plain ampersand.
func reference(s string) int {
	end := strings.IndexByte(s[:min(len(s), maxReference)], ';')
	if end < 2 || !only(s[1:end], func(c byte) bool { return alnum(c) || c == '#' }) {
		return 0
	}
	if ref := s[:end+1]; html.UnescapeString(ref) != ref {
		return end + 1
	}
	return 0
}

// Escape returns s as HTML text that is also safe between quotes of either kind.
func Escape(s string) string {
	if plainText(s) && strings.IndexByte(s, '\'') < 0 && strings.IndexByte(s, '"') < 0 {
		return s
	}
	return string(AppendEscape(nil, s))
}

// AppendEscape appends Escape(s) to dst.
func AppendEscape(dst []byte, s string) []byte {
	for i := 0; i < len(s); {
		n := 1
		switch s[i] {
		case '<':
			dst = append(dst, "&lt;"...)
		case '>':
			dst = append(dst, "&gt;"...)
		case '&':
			dst = append(dst, "&amp;"...)
		case '"':
			dst = append(dst, "&quot;"...)
		case '\'':
			dst = append(dst, "&#x27;"...)
		default:
			dst, n = appendRune(dst, s[i:])
		}
		i += n
	}
	return dst
}

// appendRune appends the first character of s and returns its size in bytes. It drops
// control characters and replaces invalid UTF-8.
func appendRune(dst []byte, s string) ([]byte, int) {
	if s[0] < utf8.RuneSelf {
		if control(s[0]) {
			return dst, 1
		}
		return append(dst, s[0]), 1
	}
	r, n := utf8.DecodeRuneInString(s)
	return utf8.AppendRune(dst, r), n
}

// Stored returns a stored title or text unchanged if it has no markup beyond the
// allow-list, and otherwise as Title does. "P < 0.05" and "AT&T" stay.
func Stored(s string) string {
	if !tagged(s) || simple(s) {
		return s
	}
	return Title(s)
}

// tagged reports whether a "<" in s could begin a tag or a comment: any "<" that is not
// followed by a space, a digit, a sign or a character beyond ASCII.
func tagged(s string) bool {
	for i := strings.IndexByte(s, '<'); i >= 0 && i+1 < len(s); {
		if next := s[i+1]; next < utf8.RuneSelf && strings.IndexByte(" 0123456789=<>-+.,;&$", next) < 0 {
			return true
		}
		n := strings.IndexByte(s[i+1:], '<')
		if n < 0 {
			return false
		}
		i += 1 + n
	}
	return false
}
