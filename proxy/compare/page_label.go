package compare

import (
	"regexp"
)

// samePage: the request asks for the first rows of a list of which rows have the same rank, or for rows of a list
// that is not sorted. Both whole lists agree, and the new page is that page of the new list.
func samePage(d Difference) bool { return d.ofPage() && d.about.wholesAgree(false) }

// offsetPage is samePage for other pages: OSIRIS takes each offset for 1. Its page begins with the second row, or
// where it was asked to.
func offsetPage(d Difference) bool { return d.ofPage() && d.about.wholesAgree(true) }

// listRow matches the path of a row of the list.
var listRow = regexp.MustCompile(`^\$\.data\[\d+\]$`)

// ofPage reports whether a difference may come from another choice of rows.
func (d Difference) ofPage() bool {
	return (d.Kind == RowMissing || d.Kind == RowAdded || d.Kind == Order) && d.about != nil &&
		listRow.MatchString(d.Path)
}

// languages are those in which the new side has labels.
var languages = []string{"en", "de"}

// otherLanguage: the new side has both values at this place of this row, each in another language. It is not enough
// that it has the old one: what is no label is the same in all languages, also where this answer has a mistake.
func otherLanguage(d Difference) bool {
	if d.Kind != FieldChanged || d.about == nil || len(d.is) == 0 || d.is[0] != '"' ||
		len(d.was) == 0 || d.was[0] != '"' {
		return false
	}
	var old, new bool
	for _, language := range languages {
		data, ok := d.about.inLanguage(language)
		label := find(data, d.Path, d.Row)
		if !ok || len(label) == 0 || label[0] != '"' {
			return false
		}
		old, new = old || show(label) == d.Old, new || show(label) == d.New
	}
	return old && new
}
