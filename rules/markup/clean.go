package markup

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// maxRounds bounds how often Clean repeats sanitize until its result no longer changes. Only contrived input needs
// more than one round. Repairing one thing may make another: a control character that is dropped can join two
// halves of a tag.
const maxRounds = 4

// Clean removes from HTML everything that is not on the allow-list (docs/rendering.md): elements a b br div em i p
// small span strong sub sup u, attributes class, title, data-title, data-toggle and, on links, href (http, https or
// relative), target and rel. The elements of the result are closed and properly nested. Clean returns HTML that is
// safe and in simple form unchanged, without allocating. Clean(Clean(x)) equals Clean(x). What still changes after
// maxRounds becomes text: HTML on whose reading two passes do not agree is not worth a guess.
func Clean(s string) string {
	if simple(s) {
		return s
	}
	out := sanitize(s)
	for range maxRounds {
		if simple(out) {
			return out
		}
		next := sanitize(out)
		if next == out {
			return out
		}
		out = next
	}
	return Escape(Text(out))
}

// sanitize is one round of the slow path: repair the bytes, filter, balance. The order matters: bytes first, since
// a parser skips some of them; then the policy, which drops and escapes; then the balance, because the policy keeps
// end tags as they come.
func sanitize(s string) string {
	return Balance(policy().Sanitize(linkAddress.ReplaceAllStringFunc(printable(s), spacesEncoded)))
}

// linkAddress matches the beginning of a link's tag up to the end of its quoted address. A regular expression is
// enough here, because a miss only loses the address: the policy reads the tag again.
var linkAddress = regexp.MustCompile(`(?i)<a\s([^<>]*\s)?href\s*=\s*("[^"<>]*"|'[^'<>]*')`)

// spacesEncoded encodes spaces as browsers do; the policy would drop an address with spaces.
func spacesEncoded(link string) string {
	end := len(link) - 1
	at := strings.LastIndexByte(link[:end], link[end]) + 1
	return link[:at] + strings.ReplaceAll(strings.Trim(link[at:end], " "), " ", "%20") + link[end:]
}

// printable replaces invalid UTF-8 and drops control characters. Line feeds and tabs stay, since they are white
// space of HTML.
func printable(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return '\n'
		case r < ' ' && r != '\n' && r != '\t', r == 0x7f:
			return -1
		}
		return r
	}, s)
}

// Balance closes what s, whose tags are all allowed, leaves open, and drops end tags that close nothing. <b>x</i>
// becomes <b>x</b>, and <i><b>x</i> becomes <i><b>x</b></i>. A page around a citation must not lose its own
// elements to an end tag in it.
func Balance(s string) string {
	var dst []byte
	var open []string
	z := html.NewTokenizer(strings.NewReader(s))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		raw := z.Raw()
		if kind == html.TextToken {
			dst = append(dst, raw...)
			continue
		}
		switch name, end := tagName(string(raw)); {
		case name == "br" && !end:
			dst = append(dst, "<br>"...)
		case end:
			dst, open = closeThrough(dst, open, name)
		case kind == html.StartTagToken && len(open) < maxDepth:
			dst, open = append(dst, raw...), append(open, name)
		}
		// A self-closed element is empty. If an element is nested too deep, only its content stays.
	}
	return string(closeAll(dst, open))
}

// closeThrough writes the end tags of the open elements from the innermost one to name, or nothing if name is not
// open.
func closeThrough(dst []byte, open []string, name string) ([]byte, []string) {
	for at := len(open) - 1; at >= 0; at-- {
		if open[at] == name {
			return closeAll(dst, open[at:]), open[:at]
		}
	}
	return dst, open
}

// closeAll writes the end tags of elements, the innermost first.
func closeAll(dst []byte, open []string) []byte {
	for _, name := range slices.Backward(open) {
		dst = append(append(append(dst, "</"...), name...), '>')
	}
	return dst
}

// tagName returns the lower-case name in a tag and whether it is an end tag.
func tagName(raw string) (name string, end bool) {
	raw, end = strings.CutPrefix(strings.TrimPrefix(raw, "<"), "/")
	n := 0
	for n < len(raw) && alnum(raw[n]) {
		n++
	}
	return strings.ToLower(raw[:n]), end
}
