package render

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"vitrine/rules"
	"vitrine/rules/markup"
	"vitrine/rules/render/joiner"
)

// Compilation has two steps: a reader turns a notation into branches, and the compiler checks their
// HTML and turns them into instructions. The HTML of a whole branch is known before its tags are
// read, so a tag may have fields inside.
//
//	"<b>{title}</b>{?doi: {doi}}" → "<b>\x000\x00</b>\x001\x00", parts: {title}, {?doi: …}

// A branch is a template, or the body of a condition, in the form in which the readers of both notations
// (template.go, osiris_template.go) pass it to the compiler: HTML, trusted as far as the allow-list, with holes for
// the parts in it.
type branch struct {
	html  strings.Builder
	parts []part
}

// part replaces a hole: by the first of fields that is not empty, or by a body under a condition.
type part struct {
	at, end int // offsets in the template
	fields  []*field
	test    test
	body    *branch // nil if the part has fields
}

// hole precedes and follows the number of a part in the HTML of a branch. NUL occurs in no
// template: text removes it.
const hole = "\x00"

// text adds HTML of the template, without bytes that would look like a hole.
func (b *branch) text(html string) { b.html.WriteString(strings.ReplaceAll(html, hole, "")) }

// field adds a hole for a single field.
func (b *branch) field(f *field) { b.html.WriteString(b.hole(part{fields: []*field{f}})) }

// hole adds a part and returns the hole for it.
func (b *branch) hole(p part) string {
	b.parts = append(b.parts, p)
	return hole + strconv.Itoa(len(b.parts)-1) + hole
}

// part returns the part of a hole. number is always one that hole wrote.
func (b *branch) part(number string) *part {
	n, _ := strconv.Atoi(number)
	return &b.parts[n]
}

// A compiler turns branches into instructions, if their markup is allowed and balanced in each of
// them. It emits into one list for all branches; a condition is a jump over the code of its body.
type compiler struct {
	code []instr
	open []element // open elements, the innermost last
}

// element is an open element of the template.
type element struct {
	name string
	at   int
}

// compile returns the instructions of a template. They are never nil, even for an empty template.
func compile(template *branch) (code []instr, err error) {
	defer rules.Catch(&err)
	c := &compiler{code: []instr{}}
	c.branch(template)
	return c.code, nil
}

// failTemplate ends the reading or compilation of a template with a mistake at a byte offset. It
// panics with the error; template and compile recover.
func failTemplate(at int, format string, args ...any) {
	rules.Fail(fmt.Errorf("%s (at character %d)", fmt.Sprintf(format, args...), at+1))
}

// emit appends an instruction.
func (c *compiler) emit(in instr) { c.code = append(c.code, in) }

// branch compiles a branch, which must close its own elements. So whether a condition holds never
// decides about the balance of elements. The offset at counts holes as the text that they stand
// for, for errors.
func (c *compiler) branch(b *branch) {
	depth, at := len(c.open), 0
	for html := b.html.String(); html != ""; {
		kind, piece := lexeme(html)
		html = html[len(piece):]
		switch kind {
		case fieldPiece:
			c.part(b.part(strings.Trim(piece, hole)))
		case joiner.Start:
			c.startTag(at, piece, b)
		case joiner.End:
			c.endTag(at, piece, depth)
		case joiner.Word:
			c.emit(instr{kind: joiner.Word, text: markup.Restrict(piece)})
		case joiner.Space:
			c.emit(instr{kind: joiner.Space, text: " "})
		default:
			c.emit(instr{kind: kind, text: piece})
		}
		if last := strings.Split(piece, hole); len(last) > 1 {
			at, piece = b.part(last[len(last)-2]).end, last[len(last)-1]
		}
		at += len(piece)
	}
	if len(c.open) > depth {
		unclosed := c.open[len(c.open)-1]
		failTemplate(unclosed.at, "<%s> is not closed", unclosed.name)
	}
}

// part compiles a field, or a condition with its body. It knows the end of the jump after the body.
func (c *compiler) part(p *part) {
	if p.body == nil {
		c.emit(instr{kind: fieldPiece, fields: p.fields})
		return
	}
	begin := len(c.code)
	c.emit(instr{kind: unlessPiece, test: p.test})
	c.branch(p.body)
	c.code[begin].jump = len(c.code)
}

// endTag closes an element. It refuses to close one of the first depth open elements. An element
// without any content, such as an icon, is meant to be empty and becomes a word.
func (c *compiler) endTag(at int, piece string, depth int) {
	name := strings.TrimRight(piece[2:len(piece)-1], " ")
	last := len(c.open) - 1
	if last < depth || c.open[last].name != name {
		failTemplate(at, "</%s> closes nothing here", name)
	}
	c.open = c.open[:last]
	if last := &c.code[len(c.code)-1]; last.kind == joiner.Start && last.parts == nil {
		*last = instr{kind: joiner.Word, text: last.text + last.end}
		return
	}
	c.emit(instr{kind: joiner.End})
}

// lexemes are the kinds of pieces, in the order of trying. The first group of a pattern is the
// piece. A pattern never matches across a hole, except for start tags, whose attributes may have
// fields.
var lexemes = [...]struct {
	kind    joiner.Kind
	pattern *regexp.Regexp
}{
	{fieldPiece, regexp.MustCompile("^(\x00[0-9]+\x00)")}, // or a condition
	{joiner.Space, regexp.MustCompile("^([ \n\t\r])")},
	{joiner.Open, regexp.MustCompile(`^([(\[])`)},
	{joiner.Close, regexp.MustCompile(`^([)\]])`)},
	{joiner.Start, regexp.MustCompile(`^(<[a-z](?:[^'">]|'[^']*'|"[^"]*")*>?)`)},
	{joiner.End, regexp.MustCompile(`^(</[^>\x00]*>)`)},
	// The marks that the joiner tidies (docs/rendering.md: Leftovers). If a word follows them
	// directly, they are part of it, as in "10.5" and "https://".
	{joiner.Punct, regexp.MustCompile(`^([,;:.!?]+)(?:[^,;:.!?\w/\x{80}-\x{10FFFF}]|$)`)},
	// The semicolon of a character reference is not punctuation.
	{joiner.Word,
		regexp.MustCompile(`(?s)^((?:&[\w#]+;|.)(?:[^\x00 \n\t\r()\[\]<&,;:.!?]|[,;:.!?]+[\w/\x{80}-\x{10FFFF}])*)`)},
}

// lexeme returns the kind and text of the first piece of s. The text is not empty. Without a match,
// as for a lone "&", all of s is a word.
func lexeme(s string) (kind joiner.Kind, piece string) {
	for _, l := range lexemes {
		if found := l.pattern.FindStringSubmatch(s); found != nil {
			return l.kind, found[1]
		}
	}
	return joiner.Word, s
}
