package render

import (
	"slices"

	"vitrine/rules/markup"
)

// pieceKind is what a piece of a template is, from the text that is compiled to the queue
// of the joiner.
type pieceKind uint8

const (
	wordPiece   pieceKind = iota // HTML as it is
	spacePiece                   // a space between words
	punctPiece                   // a mark such as "," or "..."
	openPiece                    // an opening bracket
	closePiece                   // a closing bracket
	startPiece                   // a start tag
	endPiece                     // an end tag
	breakPiece                   // <br>
	fieldPiece                   // the first of fields that is not empty
	unlessPiece                  // go to jump unless test holds
)

// instr is one instruction of a compiled template. Only the fields that its kind needs are
// set.
type instr struct {
	kind   pieceKind
	text   string    // the piece, unless it has parts
	parts  []tagPart // of a start tag with fields in it
	end    string    // the end tag of a start tag
	fields []*field
	test   test
	jump   int // an index of the code
}

// tagPart is a stretch of a start tag: text, then the value of fields in the way that its
// place in the tag asks for.
type tagPart struct {
	text   string
	fields []*field
	use    attributeUse
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
		if !slices.ContainsFunc(all, func(t term) bool { return p.isFilled(t.field) == t.empty }) {
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
		switch in := &code[pc]; in.kind {
		case wordPiece:
			j.word(in.text)
		case closePiece:
			j.closeBracket(in.text)
		case startPiece:
			p.startTag(in)
		case endPiece:
			j.end()
		case fieldPiece:
			if p.value = p.appendFirst(p.value[:0], in.fields); len(p.value) > 0 {
				j.value(p.value)
			}
		case unlessPiece:
			if !p.holds(in.test) {
				pc = in.jump - 1
			}
		default:
			j.push(in.kind, in.text)
		}
	}
	return j.finish()
}

// appendFirst appends the first field that is not empty.
func (p *page) appendFirst(dst []byte, fields []*field) []byte {
	start := len(dst)
	for _, f := range fields {
		if dst = f.write(p, dst); len(dst) > start {
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

// attribute returns the value of a part's fields as text, not yet escaped for the
// attribute.
func (p *page) attribute(part *tagPart) string {
	if part.use == addressUse {
		for _, f := range part.fields {
			if url := f.address(p); url != "" {
				return url
			}
		}
		return ""
	}
	p.value = p.appendFirst(p.value[:0], part.fields)
	value := markup.Text(string(p.value))
	if part.use == segmentUse {
		return markup.PathSegment(value)
	}
	return value
}
