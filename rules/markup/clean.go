package markup

import (
	"regexp"
	"strings"
)

// maxRounds bounds how often sanitize is repeated until its result no longer changes.
// Only contrived input needs more than one round.
const maxRounds = 4

// Clean removes from html everything that is not on the allow-list (DESIGN.md: 14):
// elements a b br div em i p small span strong sub sup u, attributes class, title,
// data-title, data-toggle and, on links, href (http, https or relative), target and
// rel. The elements of the result are closed and in order. Clean returns HTML that is
// safe and in simple form unchanged, without allocating.
// Clean(Clean(x)) equals Clean(x).
func Clean(html string) string {
	if simple(html) {
		return html
	}
	out := sanitize(html)
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

// sanitize is one round of the slow path: repair the bytes, filter, balance.
func sanitize(html string) string {
	return balance(policy().Sanitize(linkAddress.ReplaceAllStringFunc(printable(html), spacesEncoded)))
}

// linkAddress matches the beginning of a link up to the end of its quoted address.
var linkAddress = regexp.MustCompile(`(?i)<a\s([^<>]*\s)?href\s*=\s*("[^"<>]*"|'[^'<>]*')`)

// spacesEncoded returns a linkAddress with its spaces encoded, as browsers do; the policy
// would drop an address with spaces.
func spacesEncoded(link string) string {
	end := len(link) - 1
	at := strings.LastIndexByte(link[:end], link[end]) + 1
	return link[:at] + strings.ReplaceAll(strings.Trim(link[at:end], " "), " ", "%20") + link[end:]
}

// printable replaces invalid UTF-8 and drops control characters.
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

// balance closes what s leaves open and drops end tags that close nothing. It
// reads bluemonday's output, in which "<" and ">" stand only for tags and all
// attributes are quoted and escaped.
func balance(s string) string {
	var b strings.Builder
	var open []string
	for {
		lt := strings.IndexByte(s, '<')
		gt := -1
		if lt >= 0 {
			gt = strings.IndexByte(s[lt:], '>')
		}
		if gt < 0 {
			break
		}
		b.WriteString(s[:lt])
		raw := s[lt : lt+gt+1]
		s = s[lt+gt+1:]
		name, end := tagName(raw)
		switch {
		case name == "br":
			if !end {
				b.WriteString("<br>")
			}
		case end:
			open = closeThrough(&b, open, name)
		case strings.HasSuffix(raw, "/>") || len(open) == maxDepth:
			// A self-closed element is empty; of one nested too deep only the content stays.
		default:
			b.WriteString(raw)
			open = append(open, name)
		}
	}
	b.WriteString(strings.ReplaceAll(s, "<", "&lt;"))
	for len(open) > 0 {
		open = closeThrough(&b, open, open[len(open)-1])
	}
	return b.String()
}

// closeThrough writes the end tags from the innermost open element out to name,
// or nothing if name is not open.
func closeThrough(b *strings.Builder, open []string, name string) []string {
	at := len(open) - 1
	for at >= 0 && open[at] != name {
		at--
	}
	if at < 0 {
		return open
	}
	for i := len(open) - 1; i >= at; i-- {
		b.WriteString("</")
		b.WriteString(open[i])
		b.WriteByte('>')
	}
	return open[:at]
}

// tagName returns the lower-case name in a tag and whether it is an end tag.
func tagName(raw string) (name string, end bool) {
	raw = strings.TrimPrefix(raw, "<")
	if strings.HasPrefix(raw, "/") {
		end = true
		raw = raw[1:]
	}
	n := 0
	for n < len(raw) && alnum(raw[n]) {
		n++
	}
	return strings.ToLower(raw[:n]), end
}
