package render

import "vitrine/rules/markup"

// opcode is what an instruction of a compiled template does.
type opcode uint8

const (
	opWord   opcode = iota // text: HTML as it is
	opSpace                // a space between words
	opPunct                // text: a mark such as "," or "..."
	opOpen                 // text: an opening bracket
	opClose                // text: a closing bracket
	opStart                // text or parts: a start tag; end: its end tag
	opEnd                  // end tag of the innermost element
	opBreak                // <br>
	opField                // operands: the first that is not empty
	opUnless               // test: go to jump unless it holds
)

// instr is one instruction. Only the fields its opcode names are set.
type instr struct {
	op       opcode
	text     string
	end      string
	parts    []tagPart
	operands []operand
	test     test
	jump     int
}

// operand is one alternative of a field in a template: a field, or text.
type operand struct {
	field  *field
	format string
	text   [languages]string // HTML, if field is nil
}

// test is testSyntax with its fields found.
type test [][]term

type term struct {
	field *field
	empty bool
}

// tagPart is a stretch of a start tag: text, then the value of operands in the
// way its place in the tag asks for.
type tagPart struct {
	text     string
	operands []operand
	use      attributeUse
}

type attributeUse uint8

const (
	noUse      attributeUse = iota // text only
	plainUse                       // text of an attribute
	segmentUse                     // one segment of a URL's path
	addressUse                     // a whole URL
)

// holds evaluates a condition.
func (p *page) holds(t test) bool {
	for _, all := range t {
		ok := true
		for _, term := range all {
			if p.isFilled(term.field) == term.empty {
				ok = false
				break
			}
		}
		if ok {
			return true
		}
	}
	return false
}

// run executes a compiled template and returns its HTML, valid until the next run.
func (p *page) run(code []instr) []byte {
	j := &p.joiner
	j.reset()
	for pc := 0; pc < len(code); pc++ {
		switch in := &code[pc]; in.op {
		case opWord:
			j.word(in.text)
		case opSpace:
			j.push(spaceJoint, " ")
		case opPunct:
			j.push(punctJoint, in.text)
		case opOpen:
			j.push(bracketJoint, in.text)
		case opClose:
			j.closeBracket(in.text)
		case opStart:
			p.startTag(in)
		case opEnd:
			j.end()
		case opBreak:
			j.push(breakJoint, "<br>")
		case opField:
			if p.value = p.appendFirst(p.value[:0], in.operands); len(p.value) > 0 {
				j.value(p.value)
			}
		case opUnless:
			if !p.holds(in.test) {
				pc = in.jump - 1
			}
		}
	}
	return j.finish()
}

// appendFirst appends the first operand that is not empty.
func (p *page) appendFirst(dst []byte, operands []operand) []byte {
	start := len(dst)
	for i := range operands {
		if o := &operands[i]; o.field == nil {
			dst = append(dst, o.text[p.lang]...)
		} else {
			dst = o.field.write(p, dst, o.format)
		}
		if len(dst) > start {
			break
		}
	}
	return dst
}

// startTag opens an element. A link whose address has an empty part is left out,
// its text is not.
func (p *page) startTag(in *instr) {
	if in.parts == nil {
		p.joiner.start(in.text, in.end)
		return
	}
	var tag []byte
	for i := range in.parts {
		part := &in.parts[i]
		tag = append(tag, part.text...)
		if part.use == noUse {
			continue
		}
		value := p.attribute(part)
		if value == "" && part.use != plainUse {
			p.joiner.start("", "")
			return
		}
		tag = markup.AppendEscape(tag, value)
	}
	p.joiner.start(string(tag), in.end)
}

// attribute returns the value of a part's operands as text, not yet escaped for
// the attribute.
func (p *page) attribute(part *tagPart) string {
	if part.use == addressUse {
		for _, o := range part.operands {
			if url := o.field.address(p); url != "" {
				return url
			}
		}
		return ""
	}
	p.value = p.appendFirst(p.value[:0], part.operands)
	value := markup.Text(string(p.value))
	if part.use == segmentUse {
		return markup.PathSegment(value)
	}
	return value
}
