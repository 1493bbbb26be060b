package render

import (
	"strings"

	"vitrine/rules/markup"
)

// vocabulary is what templates may name.
type vocabulary struct {
	fields map[string]*field
	labels map[string][languages]string
}

// compile turns a template into instructions. It checks every name, and that the
// template's own markup is allowed and balanced in each branch.
func (v *vocabulary) compile(src string) ([]instr, error) {
	nodes, err := parseTemplate(src)
	if err != nil {
		return nil, err
	}
	return v.compileNodes(nodes)
}

// compileNodes is compile for a template that is read already.
func (v *vocabulary) compileNodes(nodes []node) ([]instr, error) {
	c := &compiler{vocabulary: v}
	if err := c.nodes(nodes); err != nil {
		return nil, err
	}
	return c.code, nil
}

type compiler struct {
	*vocabulary
	code []instr
	tag  *tagSource // the start tag being read, nil between tags
	open []string   // names of the open elements
}

// nodes compiles a branch, which must close what it opens.
func (c *compiler) nodes(nodes []node) error {
	depth := len(c.open)
	last := 0
	for _, n := range nodes {
		var err error
		switch n := n.(type) {
		case literal:
			last = n.at
			err = c.literal(n, depth)
		case placeholder:
			last = n.at
			err = c.placeholder(n)
		case conditional:
			last = n.at
			err = c.conditional(n)
		}
		if err != nil {
			return err
		}
	}
	if c.tag != nil {
		return wrongTemplate(c.tag.at, "tag is not closed")
	}
	if len(c.open) > depth {
		return wrongTemplate(last, "<%s> is not closed", c.open[len(c.open)-1])
	}
	return nil
}

func (c *compiler) emit(in instr) { c.code = append(c.code, in) }

func (c *compiler) conditional(n conditional) error {
	if c.tag != nil {
		return wrongTemplate(n.at, "a condition cannot stand inside a tag")
	}
	t := make(test, len(n.test))
	for i, all := range n.test {
		for _, ts := range all {
			f, ok := c.fields[ts.field]
			if !ok {
				return wrongTemplate(ts.at, "unknown field %q", ts.field)
			}
			t[i] = append(t[i], term{field: f, empty: ts.empty})
		}
	}
	at := len(c.code)
	c.emit(instr{op: opUnless, test: t})
	if err := c.nodes(n.body); err != nil {
		return err
	}
	c.code[at].jump = len(c.code)
	return nil
}

func (c *compiler) placeholder(n placeholder) error {
	operands := make([]operand, len(n.operands))
	for i, syntax := range n.operands {
		o, err := c.operand(syntax)
		if err != nil {
			return err
		}
		operands[i] = o
	}
	if c.tag != nil {
		return c.tag.value(n.at, operands)
	}
	c.emit(instr{op: opField, operands: operands})
	return nil
}

func (c *compiler) operand(s operandSyntax) (operand, error) {
	switch s.kind {
	case quotedOperand:
		var o operand
		for lang := range o.text {
			o.text[lang] = markup.Title(s.text)
		}
		return o, nil
	case labelOperand:
		label, ok := c.labels[s.name]
		if !ok {
			return operand{}, wrongTemplate(s.at, "unknown label %q", s.name)
		}
		for lang := range label {
			label[lang] = markup.Title(label[lang])
		}
		return operand{text: label}, nil
	}
	f, ok := c.fields[s.name]
	if !ok {
		return operand{}, wrongTemplate(s.at, "unknown field %q", s.name)
	}
	if !f.knows(s.format) {
		return operand{}, wrongTemplate(s.at, "unknown format %q of field %q", s.format, s.name)
	}
	if f.filled != nil {
		return operand{}, wrongTemplate(s.at, "field %q is a flag, which only conditions can use", s.name)
	}
	return operand{field: f, format: s.format}, nil
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
		case startLexeme:
			c.tag = &tagSource{at: n.at + i}
			size = 0
		case endLexeme:
			if err := c.endTag(piece, n.at+i, depth); err != nil {
				return err
			}
		case spaceLexeme:
			c.emit(instr{op: opSpace})
		case punctLexeme:
			c.emit(instr{op: opPunct, text: piece})
		case openLexeme:
			c.emit(instr{op: opOpen, text: piece})
		case closeLexeme:
			c.emit(instr{op: opClose, text: piece})
		default:
			c.emit(instr{op: opWord, text: markup.Title(piece)})
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
		return wrongTemplate(at, "</%s> closes nothing here", name)
	}
	c.open = c.open[:len(c.open)-1]
	if last := &c.code[len(c.code)-1]; last.op == opStart && last.parts == nil {
		*last = instr{op: opWord, text: last.text + last.end}
		return nil
	}
	c.emit(instr{op: opEnd})
	return nil
}

type lexemeKind uint8

const (
	wordLexeme lexemeKind = iota
	startLexeme
	endLexeme
	spaceLexeme
	punctLexeme
	openLexeme
	closeLexeme
)

const punctuation = ",;:.!?"

// lexeme returns the kind and size of what s, not empty, begins with.
func lexeme(s string) (lexemeKind, int) {
	switch c := s[0]; {
	case c == ' ' || c == '\n' || c == '\t' || c == '\r':
		return spaceLexeme, 1
	case c == '(' || c == '[':
		return openLexeme, 1
	case c == ')' || c == ']':
		return closeLexeme, 1
	case c == '<' && len(s) > 1 && s[1] >= 'a' && s[1] <= 'z':
		return startLexeme, 1
	case c == '<' && strings.HasPrefix(s, "</"):
		if end := strings.IndexByte(s, '>'); end > 0 {
			return endLexeme, end + 1
		}
	}
	if n := punctRun(s); n > 0 {
		return punctLexeme, n
	}
	i := max(1, referenceSize(s))
	for i < len(s) && s[i] != '&' && !strings.ContainsRune(" \n\t\r()[]<", rune(s[i])) && punctRun(s[i:]) == 0 {
		i++
	}
	return wordLexeme, i
}

// referenceSize returns the size of what looks like a character reference at the
// start of s, so that its semicolon does not count as punctuation; 0 if none does.
func referenceSize(s string) int {
	if s[0] != '&' {
		return 0
	}
	i := 1
	for i < len(s) && (isWord(s[i]) || s[i] == '#') {
		i++
	}
	if i == 1 || i == len(s) || s[i] != ';' {
		return 0
	}
	return i + 1
}

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
