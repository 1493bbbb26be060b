package render

import (
	"fmt"
	"regexp"
	"strings"
)

// A node is a part of a template: literal text, a placeholder or a conditional. Both
// notations for templates are read into nodes, so that one compiler serves both.
type node interface{ isNode() }

// literal is text of the template itself: HTML, trusted as far as the allow-list.
type literal struct {
	text string
	at   int // byte offset in the template, as everywhere below
}

// placeholder is replaced by the first operand that is not empty.
type placeholder struct {
	operands []operand
	at       int
}

// conditional shows its body only if test holds.
type conditional struct {
	test test
	body []node
	at   int
}

func (literal) isNode()     {}
func (placeholder) isNode() {}
func (conditional) isNode() {}

// operand is one alternative of a placeholder.
type operand struct {
	kind   operandKind
	text   string // the name of the field or label, or the quoted text
	format string // of the field
	at     int
}

// operandKind is what an operand refers to.
type operandKind uint8

const (
	fieldOperand  operandKind = iota // {title}
	labelOperand                     // {@untitled}
	quotedOperand                    // {'text'}
)

// test holds if any of its alternatives does, and an alternative if all its terms do:
// "a&b|!c" is {{a, b}, {!c}}.
type test [][]term

// term asks for a field to be filled, or empty.
type term struct {
	name  string
	empty bool
	at    int
	field *field // set by the compiler
}

// templateError returns the error for a template that is wrong at a byte offset.
func templateError(at int, format string, args ...any) error {
	return fmt.Errorf("%s (at character %d)", fmt.Sprintf(format, args...), at+1)
}

// maxNesting bounds conditionals within conditionals.
const maxNesting = 16

// parseTemplate reads the notation of the rules file:
//
//	{field} {field:format} {field|other|@label|'text'} {?a&!b|c:shown}
//
// with \{ \} and \\ for the characters themselves.
func parseTemplate(src string) ([]node, error) {
	p := &templateParser{src: src}
	nodes, err := p.nodes(0)
	if err != nil {
		return nil, err
	}
	if p.pos < len(src) {
		return nil, templateError(p.pos, "a } without its {")
	}
	return nodes, nil
}

// templateParser reads one template, from pos on.
type templateParser struct {
	src string
	pos int
}

// nodes reads up to the end or the "}" that closes the enclosing conditional.
func (p *templateParser) nodes(depth int) ([]node, error) {
	var nodes []node
	var text strings.Builder
	start := p.pos
	flush := func() {
		if text.Len() > 0 {
			nodes = append(nodes, literal{text: text.String(), at: start})
			text.Reset()
		}
	}
	for p.pos < len(p.src) && p.src[p.pos] != '}' {
		c := p.src[p.pos]
		if c == '{' {
			flush()
			n, err := p.braces(depth)
			if err != nil {
				return nil, err
			}
			nodes = append(nodes, n)
			start = p.pos
			continue
		}
		if c == '\\' && p.pos+1 < len(p.src) && strings.IndexByte(`{}\`, p.src[p.pos+1]) >= 0 {
			p.pos++
			c = p.src[p.pos]
		}
		text.WriteByte(c)
		p.pos++
	}
	flush()
	return nodes, nil
}

// braces reads what stands between { and }, both included.
func (p *templateParser) braces(depth int) (node, error) {
	at := p.pos
	p.pos++
	if p.take('?') {
		return p.conditional(at, depth+1)
	}
	n := placeholder{at: at}
	for {
		op, err := p.operand()
		if err != nil {
			return nil, err
		}
		n.operands = append(n.operands, op)
		p.blanks()
		if p.take('}') {
			return n, nil
		}
		if !p.take('|') {
			return nil, templateError(p.pos, "expected | or } in a field")
		}
	}
}

// conditional reads from behind "{?" to the closing "}", both conditions and body.
func (p *templateParser) conditional(at, depth int) (node, error) {
	if depth > maxNesting {
		return nil, templateError(at, "conditionals nest deeper than %d", maxNesting)
	}
	n := conditional{at: at, test: test{nil}}
	for {
		p.blanks()
		t := term{empty: p.take('!'), at: p.pos}
		if t.name = p.name(); t.name == "" {
			return nil, templateError(p.pos, "expected a field in a condition")
		}
		last := len(n.test) - 1
		n.test[last] = append(n.test[last], t)
		p.blanks()
		if p.take(':') {
			break
		}
		if p.take('|') {
			n.test = append(n.test, nil)
		} else if !p.take('&') {
			return nil, templateError(p.pos, "expected &, | or : in a condition")
		}
	}
	body, err := p.nodes(depth)
	if err != nil {
		return nil, err
	}
	if !p.take('}') {
		return nil, templateError(at, "conditional is not closed")
	}
	n.body = body
	return n, nil
}

// operand reads a field with its format, an @label, or quoted text.
func (p *templateParser) operand() (operand, error) {
	p.blanks()
	op := operand{at: p.pos}
	if p.pos < len(p.src) && (p.src[p.pos] == '\'' || p.src[p.pos] == '"') {
		op.kind = quotedOperand
		end := strings.IndexByte(p.src[p.pos+1:], p.src[p.pos])
		if end < 0 {
			return op, templateError(p.pos, "text is not closed")
		}
		op.text = p.src[p.pos+1 : p.pos+1+end]
		p.pos += end + 2
		return op, nil
	}
	if p.take('@') {
		op.kind = labelOperand
	}
	if op.text = p.name(); op.text == "" {
		return op, templateError(p.pos, "expected a field, @label or quoted text")
	}
	if op.kind == fieldOperand && p.take(':') {
		if op.format = p.name(); op.format == "" {
			return op, templateError(p.pos, "expected a format after :")
		}
	}
	return op, nil
}

// fieldPath is how the name of a field or label begins: letters, digits and _ - .
var fieldPath = regexp.MustCompile(`^[\w.-]*`)

// name reads a name from here on, "" if there is none.
func (p *templateParser) name() string {
	name := fieldPath.FindString(p.src[p.pos:])
	p.pos += len(name)
	return name
}

// blanks skips blanks and line breaks.
func (p *templateParser) blanks() {
	p.pos = len(p.src) - len(strings.TrimLeft(p.src[p.pos:], " \n"))
}

// take reads the character c. It reports false if another character is next.
func (p *templateParser) take(c byte) bool {
	if p.pos < len(p.src) && p.src[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

// word is a run of letters, digits and _ at the beginning.
var word = regexp.MustCompile(`^\w*`)

// isWord reports letters, digits and _ of ASCII.
func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}
