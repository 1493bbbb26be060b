package render

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"vitrine/rules/markup"
)

// A compiler turns a template into instructions as it is read: the readers of both notations
// (template.go, osiris_template.go) call literal, placeholder and conditional. It checks that
// the template's own markup is allowed and balanced in each branch. After the first
// mistake it ignores what follows.
type compiler struct {
	code []instr
	err  error
	// tag is the start tag that is being read, nil between tags. A tag may go on in several
	// literals, with fields between them.
	tag *tagSource
	// open are the names of the open elements, the innermost last; depth is how many of them
	// the current branch must not close.
	open  []string
	depth int
	last  int // where the last part of the branch begins
	// authors says that the template has a field that writes authors with marks.
	authors bool
}

// compile returns the instructions of the template that read passes on. They are never nil:
// an empty template is one, too.
func compile(read func(c *compiler)) ([]instr, error) {
	c := &compiler{code: []instr{}}
	c.branch(func() { read(c) })
	if c.err != nil {
		return nil, c.err
	}
	return c.code, nil
}

// templateError returns the error for a template that is wrong at a byte offset.
func templateError(at int, format string, args ...any) error {
	return fmt.Errorf("%s (at character %d)", fmt.Sprintf(format, args...), at+1)
}

// fail records a mistake, unless there is one already.
func (c *compiler) fail(at int, format string, args ...any) {
	if c.err == nil {
		c.err = templateError(at, format, args...)
	}
}

// branch compiles what read passes on, which must close what it opens.
func (c *compiler) branch(read func()) {
	outer := c.depth
	c.depth = len(c.open)
	read()
	if c.tag != nil {
		c.fail(c.tag.at, "tag is not closed")
	} else if len(c.open) > c.depth {
		c.fail(c.last, "<%s> is not closed", c.open[len(c.open)-1])
	}
	c.depth = outer
}

// emit adds an instruction.
func (c *compiler) emit(in instr) { c.code = append(c.code, in) }

// conditional compiles a condition and what body passes on.
func (c *compiler) conditional(at int, t test, body func()) {
	if c.tag != nil {
		c.fail(at, "a condition cannot stand inside a tag")
	}
	for _, term := range slices.Concat(t...) {
		c.authors = c.authors || term.field.authors
	}
	begin := len(c.code)
	c.emit(instr{kind: unlessPiece, test: t})
	c.branch(body)
	c.code[begin].jump = len(c.code)
	c.last = at
}

// placeholder compiles the first of fields that is not empty, which can also stand in an
// attribute of the current tag.
func (c *compiler) placeholder(at int, fields []*field) {
	c.last = at
	for _, f := range fields {
		c.authors = c.authors || f.authors
	}
	if c.tag != nil {
		c.tagValue(at, fields)
		return
	}
	c.emit(instr{kind: fieldPiece, fields: fields})
}

// literal compiles a stretch of the template's own text: HTML, trusted as far as the
// allow-list.
func (c *compiler) literal(at int, text string) {
	c.last = at
	for i := 0; i < len(text) && c.err == nil; {
		if c.tag != nil {
			i += c.tagText(text[i:])
			continue
		}
		kind, piece := lexeme(text[i:])
		switch kind {
		case startPiece:
			c.tag = &tagSource{at: at + i}
			continue
		case endPiece:
			c.endTag(at+i, piece)
		case wordPiece:
			c.emit(instr{kind: wordPiece, text: markup.Title(piece)})
		case spacePiece:
			c.emit(instr{kind: spacePiece, text: " "})
		default:
			c.emit(instr{kind: kind, text: piece})
		}
		i += len(piece)
	}
}

// endTag closes an element. One that holds nothing at all, such as an icon, is
// meant to be empty and becomes a word.
func (c *compiler) endTag(at int, piece string) {
	name := strings.TrimRight(piece[2:len(piece)-1], " ")
	if len(c.open) <= c.depth || c.open[len(c.open)-1] != name {
		c.fail(at, "</%s> closes nothing here", name)
		return
	}
	c.open = c.open[:len(c.open)-1]
	if last := &c.code[len(c.code)-1]; last.kind == startPiece && last.parts == nil {
		*last = instr{kind: wordPiece, text: last.text + last.end}
		return
	}
	c.emit(instr{kind: endPiece})
}

// lexemes are what a template's own text consists of, in the order in which they are tried;
// the first group of a pattern is the piece.
var lexemes = [...]struct {
	kind    pieceKind
	pattern *regexp.Regexp
}{
	{spacePiece, regexp.MustCompile("^([ \n\t\r])")},
	{openPiece, regexp.MustCompile(`^([(\[])`)},
	{closePiece, regexp.MustCompile(`^([)\]])`)},
	{startPiece, regexp.MustCompile(`^(<)[a-z]`)},
	{endPiece, regexp.MustCompile(`^(</[^>]*>)`)},
	// The marks that the joiner tidies (docs/rendering.md: Leftovers). They are part of a word
	// that goes on right after them, as in "10.5" and "https://".
	{punctPiece, regexp.MustCompile(`^([,;:.!?]+)(?:[^,;:.!?\w/\x{80}-\x{10FFFF}]|$)`)},
	// The semicolon of a character reference is no mark.
	{wordPiece, regexp.MustCompile(`(?s)^((?:&[\w#]+;|.)(?:[^ \n\t\r()\[\]<&,;:.!?]|[,;:.!?]+[\w/\x{80}-\x{10FFFF}])*)`)},
}

// lexeme returns the kind and text of what s, not empty, begins with.
func lexeme(s string) (kind pieceKind, piece string) {
	for _, l := range lexemes {
		if found := l.pattern.FindStringSubmatch(s); found != nil {
			return l.kind, found[1]
		}
	}
	return wordPiece, s
}
