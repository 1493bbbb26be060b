package compare

import (
	"regexp"
	"slices"
	"sort"
	"strings"

	"golang.org/x/net/html"
)

// token is a part of a text: a line, or of HTML a tag or a word.
type token struct {
	text, path string // path has the elements around it
}

// html compares HTML by tokens. White space, comments, the order of attributes and how characters are written do not
// matter.
func (a *answers) html(path, old, new string) { a.text(HTML, path, tokens(old), tokens(new)) }

// tag matches what makes a text of JSON HTML.
var tag = regexp.MustCompile(`<[A-Za-z/!]`)

// voids are the elements without an end.
var voids = strings.Fields("area base br col embed hr img input link meta source track wbr")

// tokens returns the tokens of HTML.
func tokens(source string) (all []token) {
	var open []string
	path := ""
	for z := html.NewTokenizer(strings.NewReader(source)); z.Next() != html.ErrorToken; {
		switch t := z.Token(); t.Type {
		case html.TextToken:
			for word := range strings.FieldsFuncSeq(t.Data, func(r rune) bool { return strings.ContainsRune(" \t\r\n\f", r) }) { // not at &nbsp;
				all = append(all, token{word, path})
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			sort.Slice(t.Attr, func(i, j int) bool { return t.Attr[i].Key < t.Attr[j].Key })
			t.Type = html.StartTagToken
			if all = append(all, token{t.String(), path}); !slices.Contains(voids, t.Data) {
				open = append(open, t.Data)
			}
		case html.EndTagToken:
			all = append(all, token{t.String(), path})
			for i := len(open) - 1; i >= 0; i-- {
				if open[i] == t.Data {
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
	lookahead = 200 // how many tokens a difference may have before text resumes
	resumes   = 3   // how many equal tokens end a difference
)

// text compares tokens. If it does not find where the texts agree again, their rest is one difference.
func (a *answers) text(kind Kind, path string, old, new []token) {
	for i, j := 0, 0; i < len(old) || j < len(new); {
		if i < len(old) && j < len(new) && old[i].text == new[j].text {
			i, j = i+1, j+1
			continue
		}
		toOld, toNew := resume(old[i:], new[j:])
		var around string
		if i < len(old) {
			around = old[i].path
		} else {
			around = new[j].path
		}
		a.report(kind, strings.TrimSpace(path+" "+around), joined(old[i:i+toOld]), joined(new[j:j+toNew]))
		i, j = i+toOld, j+toNew
	}
}

// resume returns after how many tokens two texts agree again.
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
	for i := range resumes {
		if i >= len(old) || i >= len(new) {
			return len(old) == len(new) && i == len(old)
		}
		if old[i].text != new[i].text {
			return false
		}
	}
	return true
}

// joined returns the text of tokens.
func joined(all []token) string {
	words := make([]string, len(all))
	for i, t := range all {
		words[i] = t.text
	}
	return strings.Join(words, " ")
}
