package lists

import (
	"cmp"
	"fmt"
	"slices"

	"vitrine/proxy/lists/byline"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/lists/texts"
	"vitrine/rules/cite"
	"vitrine/rules/markup"
)

// withNames returns the citation of an item with the persons of the list marked and, if there are more than the request
// wants to see, the others folded.
func (a *answer) withNames(it *item, citation string) string {
	if !slices.Contains(a.format.reads, params.Authors) {
		return citation
	}
	most, own, end := a.query.Number(params.Authors), a.persons(), 0
	for _, all := range [][]cite.Person{it.Authors, it.Editors} {
		isOwn := func(i int) bool {
			return slices.ContainsFunc(own, func(id string) bool { return id == all[i].User || id == all[i].ORCID })
		}
		persons, anyOwn := make([]byline.Person, len(all)), false
		for i, p := range all {
			persons[i], anyOwn = byline.Person{First: p.Given, Last: cmp.Or(p.Family, p.Literal)}, anyOwn || isOwn(i)
		}
		if anyOwn || most > 0 && len(all) > most {
			c := byline.Change{Most: most, Last: a.mapping.LastAuthor, Own: isOwn, Fold: a.unfold}
			changed, size := c.In(citation[end:], persons)
			citation, end = citation[:end]+changed, end+size
		}
	}
	return citation
}

// persons returns the usernames and ORCIDs of the persons that the list is about.
func (a *answer) persons() []string {
	if a.about.name == params.Person {
		return append([]string{a.rows.ID}, a.query[params.Person]...)
	}
	return a.query[params.Person]
}

// unfold returns a checkbox that brings n persons into view. Unlike details it may stand in a paragraph.
func (a *answer) unfold(n int) string {
	t := texts.In(a.query.Text(params.Lang))
	label := func(name string) string { return markup.Escape(fmt.Sprintf(t.T(name), t.Number(n))) }
	return `<label class="vl-unfold" lang="` + t.Code() + `"><input type="checkbox" aria-label="` + label("more-people") + `"> ` + label("more") + `</label>`
}
