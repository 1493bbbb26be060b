package page

import (
	"hash/fnv"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// appendText appends plain text for an element's content or a quoted attribute. Control
// characters, which HTML does not allow, are dropped, and bytes that are no UTF-8 replaced.
func appendText(dst []byte, s string) []byte {
	done := 0
	for i := 0; i < len(s); i++ {
		if plain[s[i]] {
			continue
		}
		to, size := escape(s[i:])
		if size > 0 {
			dst = append(append(dst, s[done:i]...), to...)
			done = i + size
		}
		if s[i] >= utf8.RuneSelf {
			_, size = utf8.DecodeRuneInString(s[i:])
			i += size - 1
		}
	}
	return append(dst, s[done:]...)
}

// plain tells which bytes stand for themselves wherever they are.
var plain = func() (t [256]bool) {
	for c := range t {
		t[c] = c >= ' ' && c < 0x7f && strings.IndexByte(`&<>"'`, byte(c)) < 0 || c == '\n' || c == '\t'
	}
	return t
}()

// escape returns what the character at the start of s becomes, and its bytes; 0 if it stays.
func escape(s string) (string, int) {
	switch s[0] {
	case '&':
		return "&amp;", 1
	case '<':
		return "&lt;", 1
	case '>':
		return "&gt;", 1
	case '"':
		return "&#34;", 1
	case '\'':
		return "&#39;", 1
	}
	switch r, size := utf8.DecodeRuneInString(s); {
	case r < ' ' || r == 0x7f:
		return "", size
	case r == utf8.RuneError && size == 1, r < 0xa0, r&0xfffe == 0xfffe, r >= 0xfdd0 && r <= 0xfdef: // no characters
		return "\uFFFD", size
	}
	return "", 0
}

// appendURL appends a URL for a quoted attribute. Bytes that no URL has are escaped.
func appendURL(dst []byte, url string) []byte {
	const digits = "0123456789ABCDEF"
	done := 0
	for i := 0; i < len(url); i++ {
		c := url[i]
		if plain[c] && !foreign[c] {
			continue
		}
		dst, done = append(dst, url[done:i]...), i+1
		if c == '&' {
			dst = append(dst, "&amp;"...)
		} else {
			dst = append(dst, '%', digits[c>>4], digits[c&15])
		}
	}
	return append(dst, url[done:]...)
}

// foreign tells which bytes of plain no URL has.
var foreign = [256]bool{' ': true, '\n': true, '\t': true, '\\': true, '^': true, '`': true, '{': true, '|': true, '}': true}

// appendJSON appends a JSON value for a script element, which no text of it may end.
func appendJSON(dst, json []byte) []byte {
	for _, c := range json {
		if c == '<' { // only strings have one
			dst = append(dst, `\u003c`...)
			continue
		}
		dst = append(dst, c)
	}
	return dst
}

// linkable reports whether an address may be one of a link: those of our models may, others
// could run a script.
func linkable(href string) bool {
	return strings.HasPrefix(href, "https://") || strings.HasPrefix(href, "http://") ||
		strings.HasPrefix(href, "/") && !strings.HasPrefix(href, "//") && !strings.HasPrefix(href, `/\`)
}

// langTag matches the names of languages that lang may have. Records have other texts there.
var langTag = regexp.MustCompile(`^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$`)

// langOf returns the value of lang for an item of another language than what is around it.
func langOf(it *Item, around string) string {
	if it.Lang == around || !langTag.MatchString(it.Lang) {
		return ""
	}
	return it.Lang
}

// appendID appends a text as a part of an id: letters, digits and "-" stay, and any other
// byte becomes "_" and its two hexadecimal digits, so that different texts stay different.
func appendID(dst []byte, s string) []byte {
	const digits = "0123456789abcdef"
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '-' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
			dst = append(dst, c)
		} else {
			dst = append(dst, '_', digits[c>>4], digits[c&15])
		}
	}
	return dst
}

// listID returns what the ids of a list begin with. Lists at different URLs can be in one
// page, and the same list with other parameters too.
func listID(l *List) string {
	path, query, _ := strings.Cut(strings.TrimPrefix(l.Self, l.Base), "?")
	id := appendID([]byte("vl-"), strings.TrimPrefix(strings.TrimPrefix(path, "/"), "lists/"))
	if query != "" {
		h := fnv.New32a()
		h.Write([]byte(query))
		id = strconv.AppendUint(append(id, "_q"...), uint64(h.Sum32()), 36)
	}
	return string(id)
}
