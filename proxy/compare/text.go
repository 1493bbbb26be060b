package compare

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// token is a part of a text: a line, or of HTML a tag or a word.
type token struct {
	text, path string // path has the elements around it
}

// tag matches a tag, which makes a text in JSON count as HTML.
var tag = regexp.MustCompile(`<[A-Za-z/!]`)

// voids are the elements without an end.
var voids = strings.Fields("area base br col embed hr img input link meta source track wbr")

// tokens returns the tokens of HTML. White space, comments, the order of attributes and how characters are written do not
// matter.
func tokens(source string) (all []token) {
	var open []string
	path := ""
	for z := html.NewTokenizer(strings.NewReader(source)); z.Next() != html.ErrorToken; {
		t := z.Token()
		name := shorten(t.Data)
		switch t.Type {
		case html.TextToken:
			for word := range strings.FieldsFuncSeq(t.Data, func(r rune) bool { return strings.ContainsRune(" \t\r\n\f", r) }) { // not at &nbsp;
				all = append(all, token{word, path})
			}
			continue
		case html.StartTagToken, html.SelfClosingTagToken:
			slices.SortFunc(t.Attr, func(a, b html.Attribute) int { return strings.Compare(a.Key, b.Key) })
			t.Type = html.StartTagToken
			if all = append(all, token{t.String(), path}); !slices.Contains(voids, name) {
				open = append(open, name)
			}
		case html.EndTagToken:
			all = append(all, token{t.String(), path})
			for i := len(open) - 1; i >= max(0, len(open)-unended); i-- {
				if open[i] == name {
					open = open[:i]
					break
				}
			}
		}
		path = strings.Join(open[max(0, len(open)-deepest):], ">")
	}
	return all
}

const (
	deepest   = 8   // how many elements a path has at most
	unended   = 100 // how many elements without an end another one's end may close
	lookahead = 200 // how many tokens a difference may have before text resumes
	resumes   = 3   // how many equal tokens end a difference
)

// text compares tokens. If it does not find where the texts agree again, their rest is one difference.
func (a *answers) text(kind Kind, path string, old, new []token) {
	for len(old)+len(new) > 0 {
		if len(old) > 0 && len(new) > 0 && old[0].text == new[0].text {
			old, new = old[1:], new[1:]
			continue
		}
		i, j := resume(old, new)
		first := slices.Concat(old[:min(i, 1)], new[:min(j, 1)])[0]
		a.report(kind, strings.TrimSpace(path+" "+first.path), joined(old[:i]), joined(new[:j]))
		old, new = old[i:], new[j:]
	}
}

// resume returns the numbers of tokens after which two texts agree again.
func resume(old, new []token) (toOld, toNew int) {
	for d := 1; d <= min(lookahead, len(old)+len(new)); d++ {
		for i := max(0, d-len(new)); i <= min(d, len(old)); i++ {
			if agree(old[i:], new[d-i:]) {
				return i, d - i
			}
		}
	}
	return len(old), len(new)
}

// agree reports whether texts begin with the same tokens, or both end.
func agree(old, new []token) bool {
	same := func(a, b token) bool { return a.text == b.text }
	n := min(resumes, max(len(old), len(new)))
	return n <= min(len(old), len(new)) && slices.EqualFunc(old[:n], new[:n], same)
}

// joined returns the text of tokens.
func joined(all []token) string {
	words := make([]string, len(all))
	for i, t := range all {
		words[i] = t.text
	}
	return strings.Join(words, " ")
}
