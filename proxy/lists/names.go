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

type bylines struct {
	texts.Language
	own  []string // usernames and ORCIDs of the persons to mark
	most int      // most persons shown beside these; 0: all
	last bool     // the last person stays in view, too
	cut  bool     // the others are left out instead of folded
}

func (a *answer) bylines() bylines {
	b := bylines{
		texts.In(a.query.Text(params.Lang)), a.query.Both(params.Person), a.query.Number(params.Authors),
		a.mapping.LastAuthor, a.format.feed,
	}
	if b.cut { // feed readers have neither the style that folds persons nor the one that marks them
		b.own = nil
	} else if a.about.name == params.Person {
		b.own = append([]string{a.rows.ID}, b.own...)
	}
	return b
}

// in returns the citation of an item with persons marked and, if there are more than may be in view, the others folded.
func (b bylines) in(citation string, it *cite.Item) string {
	end := 0
	more := []bool{it.MoreAuthors, it.MoreEditors, it.MoreSupervisors}
	for n, all := range [][]cite.Person{it.Authors, it.Editors, it.Supervisors} {
		isOwn := func(i int) bool {
			return slices.ContainsFunc(b.own, func(id string) bool { return id == all[i].User || id == all[i].ORCID })
		}
		persons, anyOwn := make([]byline.Person, len(all)), false
		for i, p := range all {
			persons[i] = byline.Person{First: p.Given, Last: cmp.Or(p.Family, p.Literal), Suffix: p.Suffix}
			anyOwn = anyOwn || isOwn(i)
		}
		if anyOwn || b.most > 0 && len(all) > b.most {
			c := byline.Change{Most: b.most, Last: b.last, Own: isOwn, Fold: b.unfold, Cut: b.cut, More: more[n]}
			changed, size := c.In(citation[end:], persons)
			citation, end = citation[:end]+changed, end+size
		}
	}
	return citation
}

// unfold returns a checkbox, which unlike details may stand in a paragraph, for n persons, or their number if cut.
func (b bylines) unfold(n int) string {
	label := func(name string) string { return markup.Escape(fmt.Sprintf(b.T(name), b.Number(n))) }
	if b.cut {
		return label("more")
	}
	return `<label class="vl-unfold" lang="` + b.Code() + `"><input type="checkbox" aria-label="` + label("more-people") + `"> ` + label("more") + `</label>`
}
