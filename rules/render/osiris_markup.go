package render

import (
	"regexp"
	"strings"

	"vitrine/rules/markup"
)

// tidyBranch returns a template, or the text of a condition, with corrected HTML: tags
// in the plain form of the allow-list, those that are not on it left out and their
// content kept, all closed where they were opened. Tags with fields in them are removed,
// since a value could break them.
func tidyBranch(nodes []node) []node {
	var t tagTidier
	for _, n := range nodes {
		switch n := n.(type) {
		case literal:
			t.at = n.at
			t.text(n.text)
		case conditional:
			if !t.inTag {
				t.flush()
				n.body = tidyBranch(n.body)
				t.nodes = append(t.nodes, n)
			}
		default:
			if !t.inTag {
				t.flush()
				t.nodes = append(t.nodes, n)
			}
		}
	}
	t.closeTo(0)
	t.flush()
	return t.nodes
}

// tagTidier gathers one branch.
type tagTidier struct {
	nodes []node
	out   strings.Builder // text since the last node
	at    int             // of the current literal in the template
	open  []string        // elements
	inTag bool            // the current tag has begun in an earlier literal
}

// flush adds the text since the last node as a literal.
func (t *tagTidier) flush() {
	t.nodes = appendLiteral(t.nodes, t.out.String(), t.at)
	t.out.Reset()
}

// text reads literal text, in which a tag may begin or end that other literals continue.
func (t *tagTidier) text(s string) {
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
			t.out.WriteString(s)
			return
		}
		t.out.WriteString(s[:begin[0]])
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
		t.out.WriteString("<br>")
	case isEnd:
		for i := len(t.open) - 1; i >= 0; i-- {
			if t.open[i] == name {
				t.closeTo(i)
				break
			}
		}
	default:
		if clean := markup.Clean(tag + "x</" + name + ">"); strings.HasPrefix(clean, "<"+name) {
			t.out.WriteString(clean[:strings.IndexByte(clean, '>')+1])
			t.open = append(t.open, name)
		}
	}
}

// closeTo closes the innermost elements until only n are open.
func (t *tagTidier) closeTo(n int) {
	for len(t.open) > n {
		t.out.WriteString("</" + t.open[len(t.open)-1] + ">")
		t.open = t.open[:len(t.open)-1]
	}
}
