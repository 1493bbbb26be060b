package render

import (
	"fmt"
	"regexp"
	"strings"
)

// Of OSIRIS's notation for templates:
//
//	{field}            the value of a field
//	{field|fallback}   the value of a field; if it is empty, of another field, or text
//	%fields text%      text, which may hold fields, only if the fields are filled:
//	                   & all of them, | any of them, ! empty
//
// It has no escapes and no errors: text that cannot be read is shown as it is written.
// Everything else is HTML. The result is the tree of parseTemplate's notation, so that
// one compiler serves both.

// osirisParser reads one template.
type osirisParser struct {
	known  func(name string) bool // whether a name is a field's
	faults []string
}

// maxOsirisTemplate bounds a template; those of OSIRIS itself have some 200 bytes.
const maxOsirisTemplate = 16 << 10

// parse reads a template. p.faults lists what it had to read as plain text.
func (p *osirisParser) parse(src string) []node {
	var nodes []node
	text := 0 // where literal text began
	for i := 0; i < len(src); {
		n, size := p.part(src[i:], i)
		if size == 0 {
			i++
			continue
		}
		nodes = appendLiteral(nodes, src[text:i], text)
		nodes = append(nodes, n)
		i += size
		text = i
	}
	return appendLiteral(nodes, src[text:], text)
}

// appendLiteral appends text as a node, unless it is empty.
func appendLiteral(nodes []node, text string, at int) []node {
	if text == "" {
		return nodes
	}
	return append(nodes, literal{text: text, at: at})
}

// part reads the field or condition that s begins with; its size is 0 if there is none.
func (p *osirisParser) part(s string, at int) (node, int) {
	switch s[0] {
	case '{':
		end := strings.IndexByte(s, '}')
		if end < 0 {
			p.fault("a { without its }")
			return nil, 0
		}
		return p.placeholder(s[1:end], at), end + 1
	case '%':
		return p.conditional(s, at)
	}
	return nil, 0
}

// fault records a part of the template that is read as plain text.
func (p *osirisParser) fault(format string, args ...any) {
	p.faults = append(p.faults, fmt.Sprintf(format, args...))
}

// placeholder reads what stands between { and }. The first alternative is a field. A
// later one is a field if it has the name of one, and text otherwise, in quotes or not.
func (p *osirisParser) placeholder(s string, at int) node {
	n := placeholder{at: at}
	for first := true; first || s != ""; first = false {
		var alternative string
		alternative, s = cutAlternative(s)
		switch quoted, ok := unquoted(alternative); {
		case ok:
			n.operands = append(n.operands, operand{kind: quotedOperand, text: quoted, at: at})
		case first && !fieldName.MatchString(alternative):
			p.fault("{%s} does not begin with a field's name", alternative)
		case first || p.known(alternative):
			n.operands = append(n.operands, operand{text: alternative, at: at})
		case alternative != "":
			n.operands = append(n.operands, operand{kind: quotedOperand, text: alternative, at: at})
		}
	}
	return n
}

// cutAlternative returns what stands before the next | outside of quotes, trimmed, and
// what follows it.
func cutAlternative(s string) (alternative, rest string) {
	s = strings.TrimLeft(s, " ")
	from := 0
	if s != "" && (s[0] == '\'' || s[0] == '"') {
		from = 1 + max(0, strings.IndexByte(s[1:], s[0]))
	}
	if bar := strings.IndexByte(s[from:], '|'); bar >= 0 {
		return strings.TrimSpace(s[:from+bar]), s[from+bar+1:]
	}
	return strings.TrimSpace(s), ""
}

// unquoted returns text without its quotes, if it has any.
func unquoted(s string) (string, bool) {
	if len(s) < 2 || s[0] != '\'' && s[0] != '"' || s[len(s)-1] != s[0] {
		return s, false
	}
	return s[1 : len(s)-1], true
}

// conditional reads %fields text%. A percent sign that no condition follows is one.
func (p *osirisParser) conditional(s string, at int) (node, int) {
	end := closingPercent(s)
	if end < 0 {
		p.fault("a %% without its pair")
		return nil, 0
	}
	fields, text, _ := strings.Cut(s[1:end], " ")
	n := conditional{at: at}
	for all := range strings.SplitSeq(fields, "|") {
		var terms []term
		for name := range strings.SplitSeq(all, "&") {
			name, empty := strings.CutPrefix(name, "!")
			if !fieldName.MatchString(name) {
				p.fault("a %% without fields after it")
				return nil, 0
			}
			terms = append(terms, term{name: name, empty: empty, at: at})
		}
		n.test = append(n.test, terms)
	}
	body := osirisParser{known: p.known}
	n.body = body.parse(text)
	p.faults = append(p.faults, body.faults...)
	return n, end + 1
}

// closingPercent returns the place of the % that closes the one s begins with; those
// within fields are text.
func closingPercent(s string) int {
	braces, last := false, strings.LastIndexByte(s, '}')
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '{' && i < last:
			braces = true
		case s[i] == '}':
			braces = false
		case s[i] == '%' && !braces:
			return i
		}
	}
	return -1
}

// fieldName is the form of a field's name: "journal-abbr", "openalex.id",
// "authors-last, f.-amp+comma".
var fieldName = regexp.MustCompile(`^[\w\x{80}-\x{10FFFF}][-\w.+, \x{80}-\x{10FFFF}]*$`)
