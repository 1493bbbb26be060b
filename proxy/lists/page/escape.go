package page

import (
	"fmt"
	"hash/fnv"
	"html"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// text returns plain text for an element's content or a quoted attribute. All texts of a model pass it, or the
// escapes of html/template, exactly once.
func text(s string) string { return html.EscapeString(strings.Map(writable, s)) }

// writable drops ASCII control characters, which HTML does not allow, and replaces others and noncharacters.
func writable(r rune) rune {
	switch {
	case r == '\n' || r == '\t':
		return r
	case r < ' ' || r == 0x7f:
		return -1
	case unicode.IsControl(r), unicode.Is(unicode.Noncharacter_Code_Point, r):
		return utf8.RuneError
	}
	return r
}

// escape returns a text in which each byte that keep refuses is replaced by its format.
func escape(s, format string, keep func(c byte) bool) string {
	var b strings.Builder
	b.Grow(len(s))
	// Bytes and not characters: URLs escape each byte of UTF-8.
	for _, c := range []byte(s) {
		if keep(c) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, format, c)
		}
	}
	return b.String()
}

// address returns a URL for a quoted attribute. It escapes bytes that URLs do not allow (RFC 3986), and leaves
// escapes as they are. Whether the URL is safe to follow, markup.IsLink has decided.
func address(url string) string {
	inURL := func(c byte) bool { return c > ' ' && c < 0x7f && strings.IndexByte("\"'<>\\^`{|}", c) < 0 }
	return strings.ReplaceAll(escape(url, "%%%02X", inURL), "&", "&amp;")
}

// langTag matches valid values of the attribute lang. Records may store other texts.
var langTag = regexp.MustCompile(`^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$`)

// LangOf returns the attribute lang if a text is in another language than the text around it, else "". An unknown
// or malformed language gives none, so that screen readers go on in the language around.
func LangOf(lang, around string) string {
	if lang == around || !langTag.MatchString(lang) {
		return ""
	}
	return lang
}

// idOf returns a part of an id in which different texts stay different: other bytes become "_" and two digits. So
// an id needs no escape in HTML, in a URL's fragment or in a selector of CSS.
//
//	BIO          BIO
//	a_b/c        a_5fb_2fc
func idOf(s string) string {
	return escape(s, "_%02x", func(c byte) bool {
		return c == '-' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
	})
}

// listID returns the prefix of the ids of a list, because a page can contain several, even the same one filtered.
// It depends on the address alone, so that links to a record in a page go on working.
//
//	/lists/unit/BIO             vl-unit_2fBIO
//	/lists/unit/BIO?year=2020   vl-unit_2fBIO_q and a hash
func listID(l *List) string {
	path, query, _ := strings.Cut(strings.TrimPrefix(l.Self, l.Base), "?")
	id := "vl-" + idOf(strings.TrimPrefix(strings.TrimPrefix(path, "/"), "lists/"))
	// A query may be long, and an id needs only to differ.
	if query != "" {
		id += "_q" + hash(query)
	}
	return id
}

// hash returns a short text that almost always differs for different texts. It protects nothing: it only keeps ids
// short.
func hash(text string) string {
	h := fnv.New32a()
	h.Write([]byte(text))
	return strconv.FormatUint(uint64(h.Sum32()), 36)
}
