package render

import (
	"regexp"
	"slices"
	"strings"

	"vitrine/rules/markup"
)

// tagSource gathers a start tag of a template, which may have fields in the
// values of its attributes.
type tagSource struct {
	at    int
	parts []tagPart
	text  strings.Builder // since the last field
	probe strings.Builder // the tag with examples in place of fields
	quote byte            // that the current value began with, 0 outside values
	attr  string          // name of the attribute whose value is being read
	begun bool            // the value already has text
}

// tagText reads text into the current tag and returns how much; at the tag's
// end the tag becomes an instruction.
func (c *compiler) tagText(s string) int {
	t := c.tag
	for i := range len(s) {
		b := s[i]
		if b == '\n' {
			b = ' '
		}
		t.text.WriteByte(b)
		t.probe.WriteByte(b)
		switch {
		case t.quote == 0 && (b == '\'' || b == '"'):
			t.quote, t.begun = b, false
			t.attr = attributeName(t.text.String())
		case t.quote != 0 && b == t.quote:
			t.quote = 0
		case t.quote != 0:
			t.begun = true
		case b == '>':
			c.startTag()
			return i + 1
		}
	}
	return len(s)
}

// attributeName returns the name before ="  at the end of a tag's text.
func attributeName(tag string) string {
	tag = strings.TrimRight(tag, `'"`)
	tag = strings.TrimSuffix(tag, "=")
	return tag[strings.LastIndexByte(tag, ' ')+1:]
}

// tagValue places fields into the current tag, in the way that their attribute asks for.
func (c *compiler) tagValue(at int, fields []*field) {
	t := c.tag
	if t.quote == 0 {
		c.fail(at, "a field can stand inside a tag only in a quoted attribute")
	}
	part := tagPart{text: t.text.String()}
	t.text.Reset()
	example := "x"
	first := func(p *page) string {
		p.value = p.appendFirst(p.value[:0], fields)
		return markup.Text(string(p.value))
	}
	switch {
	case t.attr == "title" || t.attr == "data-title":
		part.value = first
	case t.attr == "href" && t.begun:
		part.value, part.required = func(p *page) string { return markup.PathSegment(first(p)) }, true
	case t.attr == "href":
		example = "https://example.org/"
		part.value, part.required = func(p *page) string { return firstAddress(p, fields) }, true
		if slices.ContainsFunc(fields, func(f *field) bool { return f.address == nil }) {
			c.fail(at, "a link can begin only with a url or doi field")
		}
	default:
		c.fail(at, "a field cannot stand in attribute %q", t.attr)
	}
	t.begun = true
	t.probe.WriteString(example)
	t.parts = append(t.parts, part)
}

// firstAddress returns the first URL that is not empty.
func firstAddress(p *page, fields []*field) string {
	for _, f := range fields {
		if url := f.address(p); url != "" {
			return url
		}
	}
	return ""
}

// startTag ends the current tag and checks it against the allow-list.
func (c *compiler) startTag() {
	t := c.tag
	c.tag = nil
	probe := t.probe.String()
	if probe == "<br>" || probe == "<br/>" || probe == "<br />" {
		c.emit(instr{kind: breakPiece, text: "<br>"})
		return
	}
	name := word.FindString(probe[1:])
	end := "</" + name + ">"
	if whole := probe + "x" + end; markup.Clean(whole) != whole {
		c.fail(t.at, "%s is not in the plain form that the allow-list admits", probe)
	}
	in := instr{kind: startPiece, end: end}
	if t.parts == nil {
		in.text = t.text.String()
	} else {
		in.parts = append(t.parts, tagPart{text: t.text.String()})
	}
	c.open = append(c.open, name)
	c.emit(in)
}

// word is a run of letters, digits and _ at the beginning.
var word = regexp.MustCompile(`^\w*`)
