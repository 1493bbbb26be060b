package render

import (
	"regexp"
	"strings"

	"vitrine/rules/markup"
)

// A tagTidier corrects the HTML of a branch, a template or the text of a condition, before
// it is compiled: tags in the plain form of the allow-list, those that are not on it left
// out and their content kept, all closed where they were opened. Tags with fields in them
// are removed, since a value could break them.
type tagTidier struct {
	to    *compiler
	text  strings.Builder // since the last field or condition
	at    int             // of the current literal in the template
	open  []string        // elements
	inTag bool            // the current tag has begun in an earlier literal
}

// flush compiles the text since the last field or condition.
func (t *tagTidier) flush() {
	if t.text.Len() > 0 {
		t.to.literal(t.at, t.text.String())
		t.text.Reset()
	}
}

// literal reads text, in which a tag may begin or end that other literals continue.
func (t *tagTidier) literal(at int, s string) {
	t.at = at
	for s != "" {
		if t.inTag {
			end := strings.IndexByte(s, '>')
			t.inTag = end < 0
			if t.inTag {
				return
			}
			s = s[end+1:]
			continue
		}
		begin := tagBegin.FindStringIndex(s)
		if begin == nil {
			t.text.WriteString(s)
			return
		}
		t.text.WriteString(s[:begin[0]])
		s = s[begin[0]:]
		end := strings.IndexByte(s, '>')
		if end < 0 {
			t.inTag = true
			return
		}
		t.tag(s[:end+1])
		s = s[end+1:]
	}
}

// tagBegin is how a tag, a comment or the like begins.
var tagBegin = regexp.MustCompile(`<[/!?A-Za-z]`)

// tag writes a whole tag in its plain form, if the allow-list admits it.
func (t *tagTidier) tag(tag string) {
	rest, isEnd := strings.CutPrefix(tag[1:], "/")
	name := strings.ToLower(word.FindString(rest))
	switch {
	case name == "br":
		t.text.WriteString("<br>")
	case isEnd:
		for i := len(t.open) - 1; i >= 0; i-- {
			if t.open[i] == name {
				t.closeTo(i)
				break
			}
		}
	default:
		if clean := markup.Clean(tag + "x</" + name + ">"); strings.HasPrefix(clean, "<"+name) {
			t.text.WriteString(clean[:strings.IndexByte(clean, '>')+1])
			t.open = append(t.open, name)
		}
	}
}

// closeTo closes the innermost elements until only n are open.
func (t *tagTidier) closeTo(n int) {
	for len(t.open) > n {
		t.text.WriteString("</" + t.open[len(t.open)-1] + ">")
		t.open = t.open[:len(t.open)-1]
	}
}
