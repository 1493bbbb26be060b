package render

import (
	"regexp"
	"slices"
	"strings"

	"vitrine/rules/markup"
	"vitrine/rules/render/joiner"
)

// startTag compiles a start tag and checks it against the allow-list. The values of its attributes
// may contain fields. Checking the tag once with examples is enough, because values are escaped for
// their attribute when they are written.
func (c *compiler) startTag(at int, tag string, b *branch) {
	var parts []tagPart
	probe := "" // the tag with examples in place of fields
	texts := strings.Split(strings.ReplaceAll(tag, "\n", " "), hole)
	for ; len(texts) > 2; texts = texts[2:] {
		probe += texts[0]
		part, example := tagValue(b.part(texts[1]), probe)
		part.text = texts[0]
		parts = append(parts, part)
		probe += example
	}
	probe += texts[0]
	switch probe {
	case "<br>", "<br/>", "<br />":
		c.emit(instr{kind: joiner.Break, text: "<br>"})
		return
	}
	name := word.FindString(probe[1:])
	end := "</" + name + ">"
	if !strings.HasSuffix(probe, ">") {
		failTemplate(at, "tag is not closed")
	} else if whole := probe + "x" + end; markup.Clean(whole) != whole {
		failTemplate(at, "%s is not in the plain form that the allow-list admits", probe)
	}
	c.open = append(c.open, element{name, at})
	if parts == nil {
		c.emit(instr{kind: joiner.Start, text: probe, end: end})
		return
	}
	c.emit(instr{kind: joiner.Start, parts: append(parts, tagPart{text: texts[0]}), end: end})
}

// inAttribute matches an attribute's name and the beginning of its value at the end of a tag's text.
var inAttribute = regexp.MustCompile(`([^ ]*)=(?:'([^']*)|"([^"]*))$`)

// tagValue adds fields as their attribute requires, and returns an example of their value.
//
// A title may hold any text, the later part of an address one segment of a path, and the beginning
// of an address only a field that is a URL.
func tagValue(p *part, before string) (value tagPart, example string) {
	first := func(page *page) string {
		page.value = page.appendFirst(page.value[:0], p.fields)
		return markup.Text(string(page.value))
	}
	attribute := inAttribute.FindStringSubmatch(before)
	switch {
	case p.body != nil:
		failTemplate(p.at, "a condition cannot stand inside a tag")
	case attribute == nil:
		failTemplate(p.at, "a field can stand inside a tag only in a quoted attribute")
	case attribute[1] == "title" || attribute[1] == "data-title":
		value.value = first
	case attribute[1] != "href":
		failTemplate(p.at, "a field cannot stand in attribute %q", attribute[1])
	case attribute[2]+attribute[3] != "":
		value.value, value.required = func(page *page) string { return markup.PathSegment(first(page)) }, true
	default:
		value.required, value.value = true, func(page *page) string {
			for _, f := range p.fields {
				if url := f.address(page); url != "" {
					return url
				}
			}
			return ""
		}
		if slices.ContainsFunc(p.fields, func(f *field) bool { return f.address == nil }) {
			failTemplate(p.at, "a link can begin only with a url or doi field")
		}
		return value, "https://example.org/"
	}
	return value, "x"
}

// word matches the letters, digits and _ at the beginning.
var word = regexp.MustCompile(`^\w*`)
