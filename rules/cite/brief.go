package cite

import (
	"slices"

	"vitrine/rules/markup"
	"vitrine/rules/notice"
)

// The most bytes that a brief item has of a text, and of a name or a keyword. Those of real records
// are shorter. Without these bounds one record with a million authors would make each list that
// names it as large.
const mostText, mostName = 10_000, 500

// Brief returns an item as lists show it: with at most n authors, editors, supervisors, keywords,
// notices and projects, and without the ends of texts that are too long. If persons are left out,
// the item says that there are others. Brief returns the same item if nothing exceeds these bounds.
// Nearly all items are brief already, and need no copy.
func (it *Item) Brief(n int) *Item {
	if it.isBrief(n) {
		return it
	}
	short := *it
	short.Authors, short.MoreAuthors = briefPersons(it.Authors, n, it.MoreAuthors)
	short.Editors, short.MoreEditors = briefPersons(it.Editors, n, it.MoreEditors)
	short.Supervisors, short.MoreSupervisors = briefPersons(it.Supervisors, n, it.MoreSupervisors)
	// An address that is cut leads elsewhere, so one that is too long goes altogether. The same
	// holds for links below.
	short.Notices = slices.Clone(it.Notices[:min(len(it.Notices), n)])
	for i := range short.Notices {
		for _, address := range addresses(&short.Notices[i]) {
			if len(*address) > mostName {
				*address = ""
			}
		}
	}
	short.Keywords = slices.Clone(it.Keywords[:min(len(it.Keywords), n)])
	for i := range short.Keywords {
		shorten(&short.Keywords[i], mostName)
	}
	// Nothing in a project is changed, so the slice needs no copy.
	short.Projects = it.Projects[:min(len(it.Projects), n)]
	short.Units = it.Units[:min(len(it.Units), n)]
	short.Profile.Links = it.Profile.Links[:min(len(it.Profile.Links), n)]
	for _, text := range short.texts() {
		shorten(text, mostText)
	}
	for _, html := range short.markedTexts() {
		if len(*html) > mostText {
			*html = markup.Cut(*html, mostText) + ellipsis
		}
	}
	for _, address := range short.links() { // the beginning of an address leads elsewhere
		if len(*address) > mostText {
			*address = ""
		}
	}
	return &short
}

// isBrief reports whether an item has few persons, keywords, notices and projects, and is too small
// for a text that is too long. It compares the sum of all texts with the bound of one, since nearly
// all records are far below; Brief looks at the texts of the others one by one.
func (it *Item) isBrief(n int) bool {
	many := max(len(it.Keywords), len(it.Notices), len(it.Projects), len(it.Units), len(it.Profile.Links))
	if max(many, len(it.Authors), len(it.Editors), len(it.Supervisors)) > n {
		return false
	}
	size := 0
	for _, persons := range [...][]Person{it.Authors, it.Editors, it.Supervisors} {
		for i := range persons {
			for _, part := range persons[i].parts() {
				if len(*part) > mostName {
					return false
				}
			}
		}
	}
	for i := range it.Notices {
		for _, address := range addresses(&it.Notices[i]) {
			if len(*address) > mostName {
				return false
			}
		}
	}
	for _, word := range it.Keywords {
		if len(word) > mostName {
			return false
		}
	}
	for _, text := range it.texts() {
		size += len(*text)
	}
	for _, text := range it.markedTexts() {
		size += len(*text)
	}
	for _, text := range it.links() {
		size += len(*text)
	}
	return size <= mostText
}

// briefPersons returns the first n persons, and whether there are others. It copies them before it
// shortens names, because the item keeps the same slice.
func briefPersons(all []Person, n int, more bool) ([]Person, bool) {
	short := slices.Clone(all[:min(len(all), n)])
	for i := range short {
		for _, part := range short[i].parts() {
			shorten(part, mostName)
		}
	}
	return short, more || len(all) > n
}

// ellipsis ends a text that was cut.
const ellipsis = "…"

// shorten cuts a text after at most size bytes. The ellipsis comes on top of size.
func shorten(text *string, size int) {
	if len(*text) > size {
		*text = markup.CutText(*text, size) + ellipsis
	}
}

// parts returns the parts of a person's name. Callers change them through the pointers.
func (p *Person) parts() [4]*string { return [...]*string{&p.Given, &p.Family, &p.Suffix, &p.Literal} }

// addresses returns what leads from a notice to the other work.
func addresses(n *notice.Notice) [3]*string { return [...]*string{&n.DOI, &n.URL, &n.ID} }

// texts returns the plain texts of an item. A field that is missing here has no bound in lists.
func (it *Item) texts() [20]*string {
	return [...]*string{
		&it.Text, &it.Name, &it.Container, &it.Series, &it.Volume, &it.Issue, &it.Pages, &it.Publisher, &it.Place,
		&it.Edition, &it.Event, &it.Degree, &it.Version, &it.Number, &it.EID, &it.Status, &it.Language, &it.Abstract,
		&it.Funder, &it.Grant,
	}
}

// markedTexts returns the texts of an item that are HTML.
func (it *Item) markedTexts() [5]*string {
	return [...]*string{&it.Title, &it.HTML.Container, &it.HTML.Series, &it.HTML.Event, &it.HTML.Abstract}
}

// links returns the addresses and identifiers of an item.
func (it *Item) links() [8]*string {
	return [...]*string{&it.URL, &it.PDF, &it.Licence, &it.Rights, &it.DOI, &it.PMID, &it.ISBN, &it.ISSN}
}
