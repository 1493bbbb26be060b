package markup

import (
	"html"
	"slices"
	"strings"
	"unicode/utf8"
)

// Title returns a stored text as HTML with the inline markup of titles: i b em strong sub sup, without attributes
// and properly nested. Other elements that mean the same become one of these: bold, italic and inf, with or without
// a prefix such as jats:, and the scripts of MathML. Of all other elements only the content stays, of script and
// style nothing. Blocks and line breaks separate words; comments, processing instructions and the marks of CDATA
// sections vanish. Character references stay. What is no element and no reference is text. White space becomes one
// space. <jats:italic>E. coli</jats:italic> in&#160;H<inf>2</inf>O becomes <i>E. coli</i> in&#160;H<sub>2</sub>O.
func Title(s string) string {
	if settled(s, true) {
		return s
	}
	return string(AppendTitle(nil, s))
}

// AppendTitle appends Title(s) to dst. If an element is nested too deep, only its content stays. It appends to
// spare a copy to callers that write a row.
func AppendTitle(dst []byte, s string) []byte {
	if settled(s, true) {
		return append(dst, s...)
	}
	r := reader{text: s, dst: slices.Grow(dst, len(s)+len(s)/8), tags: true}
	return r.read()
}

// Plain returns the words of a stored text: what a reader sees of Title in a browser. Character references are
// decoded once. Plain does not allocate for a text without markup, references and needless white space.
func Plain(s string) string {
	if s = strings.Trim(s, " \t\r\n"); settled(s, false) {
		return s
	}
	r := reader{text: s, dst: make([]byte, 0, len(s))}
	words := string(r.read())
	if r.rotated { // a space may stand beside another
		return strings.Join(strings.FieldsFunc(words, func(c rune) bool { return c == ' ' }), " ")
	}
	return words
}

// Paragraphs returns the paragraphs of a stored text as HTML in the form of Title. Blocks and empty lines separate
// them. A list item, a heading and a table row are paragraphs, too.
func Paragraphs(s string) (all []string) {
	r := reader{text: s, tags: true, parted: true}
	for one := range strings.SplitSeq(string(r.read()), "\n") {
		if one != "" {
			all = append(all, one)
		}
	}
	return all
}

// headings are the titles of abstracts that say no more than that, in small letters. These are in the languages of
// the publishers whose records the institutes import.
var headings = []string{"abstract", "abstract:", "summary", "zusammenfassung", "résumé", "resumen"}

// Abstract returns a stored abstract without a title that only names it as one.
// <jats:title>Abstract</jats:title><jats:p>Owls… becomes <jats:p>Owls…; a title such as Methods stays.
func Abstract(s string) string {
	for at := 0; ; {
		rest := strings.TrimLeft(s[at:], " \t\r\n")
		at = len(s) - len(rest)
		if !strings.HasPrefix(rest, "<") {
			return s
		}
		e := scanElement(rest)
		if e.size == 0 || e.end || e.role != block {
			return s
		}
		if at += e.size; e.local != "title" {
			continue
		}
		title, _, found := strings.Cut(s[at:], "<")
		if !found {
			return s
		}
		end := scanElement(s[at+len(title):])
		if end.end && end.name == e.name && slices.Contains(headings, strings.ToLower(strings.TrimSpace(title))) {
			return s[at+len(title)+end.size:]
		}
		return s
	}
}

// settled reports whether Title returns s unchanged or, without tags, whether Plain does. The plain letters come
// first, because the loop runs over every title that is read.
func settled(s string, tags bool) bool {
	space := s != ""
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z': // most texts are mostly these
		case c == '<', c == '&', c == '>' && tags, c < ' ', c == 0x7f, c == ' ' && space:
			return false
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 || isSpace(r) {
				return false
			}
			i += size - 1
		}
		space = c == ' '
	}
	return !space
}

// maxReference bounds the length of a character reference, "&" and ";" included. The longest name of HTML,
// CounterClockwiseContourIntegral, has 31 letters.
const maxReference = 34

// reference returns the size of a character reference, or 0 for a plain ampersand.
func reference(s string) int {
	end := strings.IndexByte(s[:min(len(s), maxReference)], ';')
	if end < 2 || !only(s[1:end], func(c byte) bool { return alnum(c) || c == '#' }) {
		return 0
	}
	ref := s[:end+1]
	text := html.UnescapeString(ref)
	if digits := strings.TrimLeft(ref[2:end], "xX"); ref[1] == '#' && digits == "" {
		return 0
	}
	if text == ref || strings.HasSuffix(text, ";") && s[1] != '#' && ref != "&semi;" { // a name without ";" before it
		return 0
	}
	return end + 1
}
