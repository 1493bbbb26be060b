package csl

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// tags are the elements of rich text with their formats. These and span are the markup that CSL-JSON has.
var tags = map[string]format{"i": {style: italic}, "b": {weight: bold}, "sup": {align: superscript},
	"sub": {align: subscript}, "sc": {variant: smallCaps}}

// maxTags bounds the elements and quotes in one text.
const maxTags = 200

// rich returns a text of an item or of the style as a box: its markup as formats, its quotes as those of the
// locale.
func rich(marks *quoteMarks, kind leafKind, s string) *box {
	if !strings.ContainsAny(s, "<\"'“”‘’„‚«»‹›") {
		return leaf(kind, s)
	}
	p := richParser{src: s, kind: kind, marks: marks}
	p.parse()
	return wrap(p.finish()...)
}

// A richParser reads rich text. Its stack holds what is open.
type richParser struct {
	src   string
	kind  leafKind
	marks *quoteMarks
	at    int // where the text begins that has not been written
	stack []richOpen
	kids  []*box // of the innermost open element
	count int
}

// A richOpen is an open element or quote.
type richOpen struct {
	mark  string // "i", "span" or the opening quote
	text  string // what stands in the text, if it is never closed
	box   box
	kind  int // of a quote
	outer []*box
}

// parse reads the text.
func (p *richParser) parse() {
	for i := 0; i < len(p.src); {
		r, size := utf8.DecodeRuneInString(p.src[i:])
		n := 0
		if p.count < maxTags {
			switch r {
			case '<':
				n = p.tag(i)
			case '"', '\'', '“', '”', '‘', '’', '„', '‚', '«', '»', '‹', '›':
				n = p.quote(i, r, size)
			}
		}
		if n > 0 {
			p.count++
			i += n
			p.at = i
			continue
		}
		i += size
	}
}

// flush writes the text up to i.
func (p *richParser) flush(i int) {
	if p.at < i {
		p.kids = append(p.kids, &box{leaf: p.kind, text: p.src[p.at:i]})
	}
	p.at = i
}

// open begins an element or a quote.
func (p *richParser) open(i, n int, mark string, b box) int {
	p.flush(i)
	p.stack = append(p.stack, richOpen{mark: mark, text: p.src[i : i+n], box: b, outer: p.kids})
	p.kids = nil
	return n
}

// close ends the innermost element or quote.
func (p *richParser) close() {
	top := p.stack[len(p.stack)-1]
	p.stack = p.stack[:len(p.stack)-1]
	b := top.box
	b.kids = p.kids
	if p.kids = top.outer; len(b.kids) > 0 {
		p.kids = append(p.kids, &b)
	}
}

// undo makes the innermost element or quote a plain text again.
func (p *richParser) undo() {
	top := p.stack[len(p.stack)-1]
	p.stack = p.stack[:len(p.stack)-1]
	text := top.text
	if top.box.quoted && text == "'" {
		text = "’"
	}
	p.kids = append(append(top.outer, &box{leaf: p.kind, text: text}), p.kids...)
}

// finish returns the boxes of the whole text.
func (p *richParser) finish() []*box {
	p.flush(len(p.src))
	for len(p.stack) > 0 {
		p.undo()
	}
	return p.kids
}

// tag reads the tag at i, and returns its length or 0.
func (p *richParser) tag(i int) int {
	end := strings.IndexByte(p.src[i:min(i+60, len(p.src))], '>')
	if end < 0 {
		return 0
	}
	tag := p.src[i+1 : i+end]
	if name, ok := strings.CutPrefix(tag, "/"); ok {
		return p.endTag(i, end+1, name)
	}
	name, attrs, _ := strings.Cut(tag, " ")
	attrs = strings.ReplaceAll(strings.ReplaceAll(attrs, " ", ""), "'", `"`)
	if f, ok := tags[name]; ok && attrs == "" {
		return p.open(i, end+1, name, box{format: f, rich: true})
	}
	switch {
	case name != "span":
	case strings.HasPrefix(attrs, `class="nocase"`):
		return p.open(i, end+1, name, box{nocase: true})
	case strings.HasPrefix(attrs, `class="nodecor"`):
		return p.open(i, end+1, name, box{format: format{normal, normal, normal, normal, inherit}})
	case strings.HasPrefix(attrs, `style="font-variant:small-caps`):
		return p.open(i, end+1, name, box{format: format{variant: smallCaps}, rich: true})
	}
	return 0
}

// endTag reads an end tag of length n at i, and returns n or 0. Quotes that the element does not close are texts.
func (p *richParser) endTag(i, n int, name string) int {
	for j := len(p.stack) - 1; j >= 0; j-- {
		if p.stack[j].mark != name {
			if p.stack[j].box.quoted {
				continue
			}
			return 0
		}
		p.flush(i)
		for len(p.stack)-1 > j {
			p.undo()
		}
		p.close()
		return n
	}
	return 0
}

// quoteKind returns which quote a mark is: 0 for double and 1 for single ones, or -1. Typographic marks count only
// if they are those of the locale; others stay as they are.
func (p *richParser) quoteKind(mark string, open bool) int {
	for i, m := range p.marks {
		own := m.close
		if open {
			own = m.open
		}
		if mark == own || mark == `"'`[i:i+1] {
			return i
		}
	}
	return -1
}

// quote reads the quotation mark r at i, and returns its length or 0 if it is an apostrophe.
func (p *richParser) quote(i int, r rune, size int) int {
	mark := string(r)
	before, _ := utf8.DecodeLastRuneInString(p.src[:i])
	after, _ := utf8.DecodeRuneInString(p.src[i+size:])
	startsWord := i == 0 || unicode.IsSpace(before) || strings.ContainsRune("([{-–—/<>\"'“‘„‚", before)
	endsWord := i+size == len(p.src) || unicode.IsSpace(after) ||
		strings.ContainsRune(".,;:!?)]}-–—/<\"'”’", after)
	straight := r == '"' || r == '\''
	if kind := p.quoteKind(mark, false); kind >= 0 && endsWord && !(straight && startsWord && i > 0 && before != '>') {
		for j := len(p.stack) - 1; j >= 0 && p.stack[j].box.quoted; j-- {
			if p.stack[j].kind != kind || (p.stack[j].text == mark) != straight {
				continue
			}
			p.flush(i)
			for len(p.stack)-1 > j {
				p.undo()
			}
			p.close()
			return size
		}
	}
	if kind := p.quoteKind(mark, true); kind >= 0 && startsWord && i+size < len(p.src) && !unicode.IsSpace(after) {
		n := p.open(i, size, mark, box{quoted: true, single: kind == 1 && !straight})
		p.stack[len(p.stack)-1].kind = kind
		return n
	}
	if r == '\'' {
		p.flush(i)
		p.kids = append(p.kids, &box{leaf: p.kind, text: "’"})
		return size
	}
	return 0
}
