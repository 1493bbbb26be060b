package render

import (
	"slices"
	"strings"

	"vitrine/rules/markup"
	"vitrine/rules/render/joiner"
)

// The kinds of instructions, beside the pieces.
const (
	fieldPiece  = joiner.Kinds + iota // write the first of fields that is not empty
	unlessPiece                       // go to jump if test does not hold
)

// instr is one instruction of a compiled template. Only the fields for its kind are set.
type instr struct {
	kind   joiner.Kind
	text   string    // the piece, if it has no parts
	parts  []tagPart // the parts of a start tag with fields in it
	end    string    // the end tag of a start tag
	fields []*field
	test   test
	jump   int // an index in the code
}

// tagPart is a part of a start tag: text, then a value.
type tagPart struct {
	text     string
	value    func(p *page) string // text, not yet escaped for the attribute; nil if there is none
	required bool                 // leave the tag out if the value is empty
}

// test holds if any of its alternatives holds. An alternative holds if all its terms do: "a&b|!c"
// is {{a, b}, {!c}}. An empty test never occurs: conditions have at least one name.
type test [][]term

// term requires a field to be filled, or to be empty.
type term struct {
	field *field
	empty bool
}

// readTest reads conditions on fields, which it looks up by named. The caller has checked the
// syntax.
func readTest(conditions string, named func(name string) *field) (t test) {
	for all := range strings.SplitSeq(conditions, "|") {
		var terms []term
		for name := range strings.SplitSeq(all, "&") {
			name, empty := strings.CutPrefix(strings.TrimSpace(name), "!")
			terms = append(terms, term{named(name), empty})
		}
		t = append(t, terms)
	}
	return t
}

// holds evaluates a test on the activity.
func (p *page) holds(t test) bool {
	for _, all := range t {
		if !slices.ContainsFunc(all, func(t term) bool { return p.isFilled(t.field) == t.empty }) {
			return true
		}
	}
	return false
}

// run executes a compiled template and returns its HTML, which is valid until the next run. The
// joiner gets every piece and value in order, and decides which of the pieces to write.
func (p *page) run(code []instr) []byte {
	j := &p.joiner
	j.Reset()
	for pc := 0; pc < len(code); pc++ {
		switch in := &code[pc]; in.kind {
		case joiner.Start:
			p.startTag(in)
		case fieldPiece:
			if p.value = p.appendFirst(p.value[:0], in.fields); len(p.value) > 0 {
				j.Value(p.value)
			}
		case unlessPiece:
			if !p.holds(in.test) {
				pc = in.jump - 1
			}
		default:
			j.Piece(in.kind, in.text)
		}
	}
	return j.Finish()
}

// appendFirst appends the first of fields that is not empty.
func (p *page) appendFirst(dst []byte, fields []*field) []byte {
	start := len(dst)
	for _, f := range fields {
		if dst = f.write(p, dst); len(dst) > start {
			break
		}
	}
	return dst
}

// startTag opens an element. It leaves out a link whose address has an empty part, but keeps the link's text.
func (p *page) startTag(in *instr) {
	if in.parts == nil {
		p.joiner.Start(in.text, in.end)
		return
	}
	var tag []byte
	for _, part := range in.parts {
		tag = append(tag, part.text...)
		if part.value == nil {
			continue
		}
		value := part.value(p)
		if value == "" && part.required {
			p.joiner.Start("", "")
			return
		}
		tag = markup.AppendEscape(tag, value)
	}
	p.joiner.Start(string(tag), in.end)
}
