package markup

import (
	"html"
	"strings"
	"unicode/utf8"
)

// reader reads a stored text once and writes it as HTML with the markup of titles or as plain text. One pass and
// one buffer: the fields are the state of the text read so far. Its methods write only at the end of dst, but for
// rotate and for the tag of an element that turns out empty.
type reader struct {
	text string
	dst  []byte
	from int // where dst begins to be the text's

	tags   bool // write HTML
	parted bool // write a line feed between blocks

	open    []frame
	skipped int // open elements beyond maxDepth
	math    int // open math elements
	// White space is written late or not at all, so that "a <b> c</b>" has one space, and it stands outside of the
	// tags.
	spaced   bool // what is written ends in a space or is empty
	waiting  bool // a space is written if text of the same token follows
	rotated  bool // prescripts were moved, and spaces with them
	cdata    bool // the end of a CDATA section vanishes
	noEnd    bool // no comment ends any more
	formulas bool // the alternatives that are open have MathML
	// Filled by hasEnd when a tag is in doubt; nil before.
	ends map[string]bool // the names of end tags, if known
}

// frame is an open element. For scripts, children counts what has been read of the element, since the role of a
// child is its number.
type frame struct {
	name     string // local
	tag      string // the element it is written as; "" if only its content is written
	role     role
	start    int // offset of its tag in dst
	content  int // offset of its content in dst
	children int // number of children, for scripts
	base     int // number of children before the scripts, for scripts
	pre      int // offset of the prescripts in dst, or 0
}

// read reads the text. Each step takes at least one byte, so that reading ends. What is no markup and no reference
// is text.
func (r *reader) read() []byte {
	r.from, r.spaced = len(r.dst), true
	for s := r.text; s != ""; {
		n := 1
		switch s[0] {
		case '<':
			if n = r.markup(s); n == 0 {
				n = 1
				r.rune('<')
			}
		case '&':
			if n = r.reference(s); n == 0 {
				n = 1
				r.rune('&')
			}
		case ']':
			if r.cdata && strings.HasPrefix(s, "]]>") {
				r.cdata, n = false, 3
			} else {
				r.rune(']')
			}
		default:
			if n = r.gap(s); n > 0 {
				r.part()
				break
			}
			var c rune
			c, n = utf8.DecodeRuneInString(s)
			r.rune(c)
		}
		s = s[n:]
	}
	r.closeTo(0)
	return r.trimmed()
}

// trimmed returns what is written without the space at its end.
func (r *reader) trimmed() []byte {
	if end := len(r.dst) - 1; end >= r.from && r.dst[end] == ' ' {
		r.dst = r.dst[:end]
	}
	return r.dst
}

// rune writes a character, where white space is one space.
func (r *reader) rune(c rune) {
	switch {
	case isSpace(c):
		r.space()
		return
	case r.math > 0 && isInvisible(c):
		return
	}
	r.begin()
	switch {
	case r.tags && c == '<':
		r.dst = append(r.dst, "&lt;"...)
	case r.tags && c == '>':
		r.dst = append(r.dst, "&gt;"...)
	case r.tags && c == '&':
		r.dst = append(r.dst, "&amp;"...)
	default:
		r.dst = utf8.AppendRune(r.dst, c)
	}
}

// begin prepares for a character that is no space.
func (r *reader) begin() {
	if top := r.top(); top != nil && top.role == scripts && top.children == 0 {
		top.children++ // text in place of the base
	}
	if r.waiting && !r.spaced {
		r.dst = append(r.dst, ' ')
	}
	r.waiting, r.spaced = false, false
}

// space writes a space, unless one is written already, or the white space has no meaning in MathML. MathML ignores
// white space between elements, and in tokens at their ends; mtext and ms keep it.
func (r *reader) space() {
	if top := r.top(); top != nil && top.role >= foreign {
		switch top.name {
		case "mtext", "ms":
		case "mi", "mn", "mo":
			r.waiting = len(r.dst) > top.content
			return
		default:
			return
		}
	}
	r.separate()
}

// separate writes a space, unless one is written already.
func (r *reader) separate() {
	if !r.spaced {
		r.spaced = true
		r.dst = append(r.dst, ' ')
	}
}

// gap returns the size of an empty line at the beginning of s if it separates blocks, or 0.
func (r *reader) gap(s string) int {
	if !r.parted || s[0] != '\n' || r.math > 0 {
		return 0
	}
	rest := strings.TrimLeft(s[1:], " \t\r")
	if !strings.HasPrefix(rest, "\n") {
		return 0
	}
	return len(s) - len(rest) + 1
}

// isSpace reports white space of ASCII, control characters, line separators and noncharacters.
func isSpace(c rune) bool {
	return c <= ' ' || c >= 0x7f && c < 0xa0 || c == '\u2028' || c == '\u2029' || c&0xfffe == 0xfffe
}

// reference writes the character reference at the beginning of s and returns its size, 0 if there is none. As text
// it is decoded once: &amp;lt; becomes &lt;, not "<".
func (r *reader) reference(s string) int {
	size := reference(s)
	if size == 0 {
		return 0
	}
	decoded := html.UnescapeString(s[:size])
	first, _ := utf8.DecodeRuneInString(decoded)
	if r.tags && !isSpace(first) && first != utf8.RuneError && !(r.math > 0 && isInvisible(first)) {
		r.begin()
		r.dst = append(r.dst, s[:size]...) // in HTML it stays
		return size
	}
	for _, c := range decoded {
		r.rune(c)
	}
	return size
}

// isInvisible reports the invisible operators of MathML. They are function application, invisible times, separator
// and plus. They have no glyph, but would part words.
func isInvisible(c rune) bool { return c >= '\u2061' && c <= '\u2064' }
