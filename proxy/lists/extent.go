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

// atEnd matches the end tags at the end of HTML. An addition goes before them, into the last element, so that it
// has the style of the citation.
var atEnd = regexp.MustCompile(`(</[a-z]+>\s*)*$`)

// withExtent adds missing volume, issue and pages to a citation: before its year in parentheses, or else at the
// end. The citations that OSIRIS stores for the web name the journal and the year alone; only those for print have
// the rest.
//
//	<i>Moth J.</i> (2020)   →   <i>Moth J.</i> 12(3), 45–67 (2020)
//	Owls. <i>Moth J.</i>    →   Owls. <i>Moth J., 12(3), 45–67</i>
func withExtent(citation string, it *cite.Item, year string) string {
	if it.Container == "" || it.Volume+it.Issue+it.Pages == "" {
		return citation
	}
	// Only what follows the title and the container is searched for the numbers, because "12 Moths" has the number
	// 12, too.
	tail := markup.Text(citation)
	for _, before := range []string{it.Text, it.Container} { // whose numbers mean something else
		if _, after, found := strings.Cut(tail, before); found {
			tail = after
		}
	}
	there := wordsOf(tail)
	missing := func(part string) bool {
		// The first number of a range is enough: citations abbreviate the second one, "45-7".
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
	// The year may also stand in an address, within a tag, where no text may be added.
	inTag := i > 0 && strings.LastIndexByte(citation[:i], '<') > strings.LastIndexByte(citation[:i], '>')
	if i > 0 && !inTag && !strings.Contains(markup.Text(citation[i:]), it.Container) {
		return citation[:i] + extent + " " + citation[i:]
	}
	i = atEnd.FindStringIndex(citation)[0]
	return citation[:i] + ", " + extent + citation[i:]
}

// wordsOf returns the runs of letters and digits of a text: "12(3), 45–67" has the words 12, 3, 45 and 67.
func wordsOf(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
