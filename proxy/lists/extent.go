package lists

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"vitrine/rules/cite"
	"vitrine/rules/markup"
	"vitrine/rules/pages"
)

// atEnd matches the end tags at the end of HTML.
var atEnd = regexp.MustCompile(`(</[a-z]+>\s*)*$`)

// withExtent adds missing volume, issue and pages to a citation: before its year in parentheses, or
// else at the end.
func withExtent(citation string, it *cite.Item, year string) string {
	if it.Container == "" || it.Volume+it.Issue+it.Pages == "" {
		return citation
	}
	tail := markup.Text(citation)
	for _, before := range []string{it.Text, it.Container} { // whose numbers mean something else
		if _, after, found := strings.Cut(tail, before); found {
			tail = after
		}
	}
	there := wordsOf(tail)
	missing := func(part string) bool {
		own := wordsOf(part)
		return len(own) > 0 && !slices.Contains(there, own[0])
	}
	var parts []string
	if volume := it.Volume; missing(cmp.Or(it.Volume, it.Issue)) {
		if it.Issue != "" {
			volume += "(" + it.Issue + ")"
		}
		parts = append(parts, volume)
	}
	if missing(it.Pages) {
		parts = append(parts, pages.Dashed(it.Pages))
	}
	if len(parts) == 0 {
		return citation
	}
	extent := markup.Escape(strings.Join(parts, ", "))
	i := strings.LastIndex(citation, "("+year+")")
	inTag := i > 0 && strings.LastIndexByte(citation[:i], '<') > strings.LastIndexByte(citation[:i], '>')
	if i > 0 && !inTag && !strings.Contains(markup.Text(citation[i:]), it.Container) {
		return citation[:i] + extent + " " + citation[i:]
	}
	i = atEnd.FindStringIndex(citation)[0]
	return citation[:i] + ", " + extent + citation[i:]
}

func wordsOf(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
