package render

import (
	"regexp"
	"strings"

	"vitrine/rules/markup"
)

// anyTag matches a tag, a comment or the like, up to its end or the end of the text.
var anyTag = regexp.MustCompile(`<[/!?A-Za-z][^>]*>?`)

// tidy corrects the HTML of a branch before it is compiled. It writes tags in the plain form of the allow-list and
// closes all elements in the branch. It removes tags that are not on the list, but keeps their content. It also removes
// tags with holes in them, because a value could break the tag.
func tidy(html string) string {
	return markup.Balance(anyTag.ReplaceAllStringFunc(html, func(tag string) string {
		rest, isEnd := strings.CutPrefix(tag[1:], "/")
		name := strings.ToLower(word.FindString(rest))
		switch {
		case strings.Contains(tag, hole) || !strings.HasSuffix(tag, ">"):
			return ""
		case name == "br":
			return "<br>"
		case isEnd:
			return "</" + name + ">"
		}
		clean := markup.Clean(tag + "x</" + name + ">")
		if !strings.HasPrefix(clean, "<"+name) {
			return ""
		}
		return clean[:strings.IndexByte(clean, '>')+1]
	}))
}
