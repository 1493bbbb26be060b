package markup

import (
	"strings"
	"unicode/utf8"
)

// escapes escapes the characters that have a meaning in HTML text or between quotes. "'" goes by its number, since
// HTML 4 has no name for it.
var escapes = strings.NewReplacer("<", "&lt;", ">", "&gt;", "&", "&amp;", `"`, "&quot;", "'", "&#x27;")

// Escape returns s as HTML text that is also safe between quotes of either kind. It drops control characters, which
// no escape makes valid in HTML.
func Escape(s string) string {
	if plainText(s) && !strings.ContainsAny(s, `'"`) {
		return s
	}
	return escapes.Replace(strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && control(byte(r)) {
			return -1
		}
		return r
	}, s))
}

// AppendEscape appends Escape(s) to dst.
func AppendEscape(dst []byte, s string) []byte { return append(dst, Escape(s)...) }

// plainText reports whether s means the same as HTML and as text. It decides on the fast way of Escape and of
// Restrict.
func plainText(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] == '<' || s[i] == '>' || s[i] == '&' || control(s[i]) {
			return false
		}
	}
	return utf8.ValidString(s)
}
