package lists

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"vitrine/proxy/lists/byline"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/lists/texts"
	"vitrine/rules/cite"
	"vitrine/rules/markup"
)

// mostListed is the most persons, keywords and the like that a list has of one entry (docs/decisions.md, "huge
// entries"): records of collaborations have thousands of authors. The item's own page and files have all of them.
const mostListed = 50

// bylines changes the lists of persons in the citations of an answer. It is the same for all its items.
type bylines struct {
	texts.Language
	own   []string // usernames and ORCIDs of the persons to mark
	most  int      // most persons in view beside these; 0: all
	last  bool     // the last person stays in view, too
	bound int      // most persons that a citation has, also those not in view; 0: all
}

// bylinesOf returns what an answer does with the persons of its citations.
func bylinesOf(a *answer) bylines {
	b := bylines{
		Language: texts.In(a.query.Text(params.Lang)), own: a.query.Both(params.Person),
		most: a.query.Number(params.Authors), last: a.mapping.LastAuthor,
	}
	if !a.isItem() {
		b.bound = max(b.most, mostListed)
	}
	switch {
	case a.format.feed: // readers have neither the style that folds persons nor the one that marks them
		b.own, b.bound = nil, b.most
	// also if the request marks other persons
	case a.about.name == params.Person:
		b.own = append([]string{a.rows.ID}, b.own...)
	}
	return b
}

// in returns the citation of an item with persons marked and, if there are more than may be in view, the others
// folded. A link to the item stands for those that the citation may not have. Authors, editors and supervisors are
// looked for one after the other, each behind the list before, because an editor may have the name of an author.
func (b bylines) in(citation string, it *item) string {
	// end is behind what is finished; c.In reads only what follows.
	end := 0
	more := []bool{it.MoreAuthors, it.MoreEditors, it.MoreSupervisors}
	for n, all := range [][]cite.Person{it.Authors, it.Editors, it.Supervisors} {
		persons := make([]byline.Person, len(all))
		for i, p := range all {
			persons[i] = byline.Person{First: p.Given, Last: cmp.Or(p.Family, p.Literal), Suffix: p.Suffix}
		}
		if c := b.change(it, all); b.changes(c, len(all)) {
			c.More = more[n]
			changed, size := c.In(citation[end:], persons)
			citation, end = citation[:end]+changed, end+size
		}
	}
	return citation
}

// at is like in, for a citation whose names are at known places, by the variables of CSL. It changes the last list
// of names first, so that the places of the others stay valid.
func (b bylines) at(citation string, names map[string][]byline.Name, it *item) string {
	variables := slices.SortedFunc(maps.Keys(names), func(v, w string) int {
		return cmp.Compare(names[w][0].From, names[v][0].From)
	})
	for _, variable := range variables {
		if all := it.personsOf(variable); len(all) > 0 {
			if c := b.change(it, all); b.changes(c, len(all)) {
				citation, _ = c.At(citation, names[variable], len(all))
			}
		}
	}
	return citation
}

// personsOf returns the persons of an item in a variable of CSL, for the variables whose persons have lists.
func (it *item) personsOf(variable string) []cite.Person {
	switch variable {
	case "author":
		return it.Authors
	case "editor":
		return it.Editors
	}
	return nil
}

// change returns the change to make to a list of an item's persons.
func (b bylines) change(it *item, all []cite.Person) byline.Change {
	own := func(i int) bool {
		return slices.ContainsFunc(b.own, func(id string) bool { return id == all[i].User || id == all[i].ORCID })
	}
	return byline.Change{
		Most: b.most, Last: b.last, Own: own, Bound: b.bound, Fold: b.unfold,
		Rest: func(n int) string { return it.link(b.label("more", n), b.Code()) },
	}
}

// changes reports whether a change may make a difference to a list of n persons.
func (b bylines) changes(c byline.Change, n int) bool {
	for i := range n {
		if len(b.own) > 0 && c.Own(i) {
			return true
		}
	}
	return b.most > 0 && n > b.most
}

// label returns a text about n persons as HTML.
func (b bylines) label(name string, n int) string {
	return markup.Escape(fmt.Sprintf(b.T(name), b.Number(n)))
}

// unfold returns a checkbox, which unlike details may stand in a paragraph, for n persons. The style shows the
// persons if it is checked, so that no script is needed.
func (b bylines) unfold(n int) string {
	return `<label class="vl-unfold" lang="` + b.Code() + `"><input type="checkbox" aria-label="` +
		b.label("more-people", n) + `"> ` + b.label("more", n) + `</label>`
}

// link returns a link to the item's page, or only its text, HTML in a language, if the item has none.
func (it *item) link(text, lang string) string {
	if it.page == "" {
		return text
	}
	return `<a class="vl-rest" href="` + markup.Escape(it.page) + `" lang="` + lang + `">` + text + `</a>`
}
