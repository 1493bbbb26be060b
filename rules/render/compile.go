package render

import (
	"regexp"
	"strings"

	"vitrine/rules/markup"
)

// vocabulary is what templates may name.
type vocabulary struct {
	fields map[string]*field
	labels map[string][languages]string
}

// compile turns a template into instructions, which are never nil: an empty template is
// one, too. It checks every name, and that the template's own markup is allowed and
// balanced in each branch.
func (v *vocabulary) compile(nodes []node) ([]instr, error) {
	c := &compiler{vocabulary: v, code: []instr{}}
	if err := c.nodes(nodes); err != nil {
		return nil, err
	}
	return c.code, nil
}

// compiler compiles one template.
type compiler struct {
	*vocabulary
	code []instr
	// tag is the start tag that is being read, nil between tags. A tag may go on in several
	// nodes, with fields between them.
	tag *tagSource
	// open are the names of the open elements, the innermost last.
	open []string
}

// nodes compiles a branch, which must close what it opens.
func (c *compiler) nodes(nodes []node) error {
	depth := len(c.open)
	last := 0
	for _, n := range nodes {
		var err error
		switch n := n.(type) {
		case literal:
			last, err = n.at, c.literal(n, depth)
		case placeholder:
			last, err = n.at, c.placeholder(n)
		case conditional:
			last, err = n.at, c.conditional(n)
		}
		if err != nil {
			return err
		}
	}
	if c.tag != nil {
		return templateError(c.tag.at, "tag is not closed")
	}
	if len(c.open) > depth {
		return templateError(last, "<%s> is not closed", c.open[len(c.open)-1])
	}
	return nil
}

// emit adds an instruction.
func (c *compiler) emit(in instr) { c.code = append(c.code, in) }

// field finds the field that a template names.
func (c *compiler) field(name string, at int) (*field, error) {
	if f, ok := c.fields[name]; ok {
		return f, nil
	}
	return nil, templateError(at, "unknown field %q", name)
}

// conditional compiles a condition and its body. It resolves the names of the test in a copy,
// because OSIRIS's templates share nodes.
func (c *compiler) conditional(n conditional) error {
	if c.tag != nil {
		return templateError(n.at, "a condition cannot stand inside a tag")
	}
	resolved := make(test, len(n.test))
	for i, all := range n.test {
		for _, t := range all {
			var err error
			if t.field, err = c.field(t.name, t.at); err != nil {
				return err
			}
			resolved[i] = append(resolved[i], t)
		}
	}
	at := len(c.code)
	c.emit(instr{kind: unlessPiece, test: resolved})
	if err := c.nodes(n.body); err != nil {
		return err
	}
	c.code[at].jump = len(c.code)
	return nil
}

// placeholder compiles a field, which can also stand in an attribute of the current tag.
func (c *compiler) placeholder(n placeholder) error {
	fields := make([]*field, len(n.operands))
	for i, o := range n.operands {
		var err error
		if fields[i], err = c.operand(o); err != nil {
			return err
		}
	}
	if c.tag != nil {
		return c.tag.value(n.at, fields)
	}
	c.emit(instr{kind: fieldPiece, fields: fields})
	return nil
}

// operand returns what an operand stands for; labels and quoted text are constant fields.
func (c *compiler) operand(o operand) (*field, error) {
	text := [languages]string{o.text, o.text}
	switch o.kind {
	case fieldOperand:
		f, err := c.field(o.text, o.at)
		if err != nil {
			return nil, err
		}
		formatted, ok := f.in(o.format)
		switch {
		case !ok:
			return nil, templateError(o.at, "unknown format %q of field %q", o.format, o.text)
		case f.filled != nil:
			return nil, templateError(o.at, "field %q is a flag, which only conditions can use", o.text)
		}
		return formatted, nil
	case labelOperand:
		label, ok := c.labels[o.text]
		if !ok {
			return nil, templateError(o.at, "unknown label %q", o.text)
		}
		text = label
	}
	for lang := range text {
		text[lang] = markup.Title(text[lang])
	}
	return constantField(text), nil
}

// literal compiles a stretch of the template's own text.
func (c *compiler) literal(n literal, depth int) error {
	for i := 0; i < len(n.text); {
		if c.tag != nil {
			size, err := c.tagText(n.text[i:])
			if err != nil {
				return err
			}
			i += size
			continue
		}
		kind, size := lexeme(n.text[i:])
		piece := n.text[i : i+size]
		switch kind {
		case startPiece:
			c.tag = &tagSource{at: n.at + i}
			size = 0
		case endPiece:
			if err := c.endTag(piece, n.at+i, depth); err != nil {
				return err
			}
		case wordPiece:
			c.emit(instr{kind: wordPiece, text: markup.Title(piece)})
		case spacePiece:
			c.emit(instr{kind: spacePiece, text: " "})
		default:
			c.emit(instr{kind: kind, text: piece})
		}
		i += size
	}
	return nil
}

// endTag closes an element. One that holds nothing at all, such as an icon, is
// meant to be empty and becomes a word.
func (c *compiler) endTag(piece string, at, depth int) error {
	name := strings.TrimRight(piece[2:len(piece)-1], " ")
	if len(c.open) <= depth || c.open[len(c.open)-1] != name {
		return templateError(at, "</%s> closes nothing here", name)
	}
	c.open = c.open[:len(c.open)-1]
	if last := &c.code[len(c.code)-1]; last.kind == startPiece && last.parts == nil {
		*last = instr{kind: wordPiece, text: last.text + last.end}
		return nil
	}
	c.emit(instr{kind: endPiece})
	return nil
}

// punctuation are the marks that the joiner tidies (docs/rendering.md: Leftovers).
const punctuation = ",;:.!?"

// lexeme returns the kind and size of what s, not empty, begins with.
func lexeme(s string) (pieceKind, int) {
	switch c := s[0]; {
	case c == ' ' || c == '\n' || c == '\t' || c == '\r':
		return spacePiece, 1
	case c == '(' || c == '[':
		return openPiece, 1
	case c == ')' || c == ']':
		return closePiece, 1
	case c == '<' && len(s) > 1 && s[1] >= 'a' && s[1] <= 'z':
		return startPiece, 1
	case c == '<' && strings.HasPrefix(s, "</"):
		if end := strings.IndexByte(s, '>'); end > 0 {
			return endPiece, end + 1
		}
	}
	if n := punctRun(s); n > 0 {
		return punctPiece, n
	}
	i := max(1, len(reference.FindString(s)))
	for i < len(s) && s[i] != '&' && !strings.ContainsRune(" \n\t\r()[]<", rune(s[i])) && punctRun(s[i:]) == 0 {
		i++
	}
	return wordPiece, i
}

// reference is what looks like a character reference. Its semicolon is no punctuation.
var reference = regexp.MustCompile(`^&[\w#]+;`)

// punctRun returns the size of the punctuation that s begins with, 0 if it is
// part of a word: "10.5" and "https://" go on right after it.
func punctRun(s string) int {
	n := 0
	for n < len(s) && strings.IndexByte(punctuation, s[n]) >= 0 {
		n++
	}
	if n < len(s) && (isWord(s[n]) || s[n] == '/' || s[n] >= 0x80) {
		return 0
	}
	return n
}
