package markup

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Text returns the visible text of an HTML fragment. It removes tags, resolves character references (&nbsp; becomes
// U+00A0), replaces line breaks and block elements with a space, and trims the result. The result is text, not
// HTML: escape it before placing it into a page. Text(Clean(x)) is what sorting and searching see of a citation.
func Text(s string) string {
	if strings.IndexByte(s, '<') < 0 {
		return strings.TrimSpace(printable(html.UnescapeString(s)))
	}
	if simple(s) {
		return strings.TrimSpace(html.UnescapeString(stripSimple(s)))
	}
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(printable(s)))
	hidden := false // inside script or style
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			return strings.TrimSpace(printable(b.String()))
		case html.TextToken:
			if !hidden {
				b.Write(z.Text())
			}
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			name, _ := z.TagName()
			switch atom.Lookup(name) {
			case atom.Script, atom.Style:
				hidden = kind != html.EndTagToken
			case atom.Br, atom.P, atom.Div, atom.Li:
				b.WriteByte(' ')
			}
		}
	}
}

// stripSimple removes tags in simple form, whose attributes contain no "<" or ">". It is the fast way of Text, for
// most citations.
func stripSimple(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for {
		lt := strings.IndexByte(s, '<')
		if lt < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:lt])
		t, _ := scanTag(s[lt:])
		switch t.elem {
		case "br", "p", "div":
			b.WriteByte(' ')
		}
		s = s[lt+t.size:]
	}
}
