package lists

import (
	"cmp"
	"slices"

	"vitrine/proxy/lists/page"
	"vitrine/proxy/lists/params"
	"vitrine/rules/cite"
)

// personParts are the values of params.Show that lists of persons show by default: what the rules allow.
var personParts = parts{"photo", "position", "units", "contact", "profiles"}

// showPerson adds the person of an item, and the units, as far as the request asks for them. Programs get all.
func showPerson(a *answer, it *item) {
	lang, p := a.query.Text(params.Lang), &it.Item.Profile
	if it.shown = a.query[params.Show]; len(it.shown) == 0 || a.format.suffix == ".json" || !a.ofPersons() {
		it.shown = personParts
	}
	it.person = &page.Person{Name: titleOf(&it.Item)}
	if it.shown.have("photo") {
		it.person.Photo = a.links.photo(&it.Item)
	}
	if it.shown.have("position") {
		it.person.AcademicTitle, it.person.Position = p.AcademicTitle, p.PositionIn(lang)
	}
	if it.shown.have("contact") {
		it.person.Mail, it.person.Phone, it.person.Room = p.Mail, p.Phone, p.Room
	}
	if it.shown.have("profiles") {
		it.person.Profiles = profiles(a, &it.Item, lang)
	}
	it.extras.Units = nil
	for _, one := range it.Units {
		if !it.shown.have("units") {
			break
		}
		u := page.Unit{ID: one.ID, Name: cmp.Or(one.Name, one.NameDE, one.ID)}
		if lang == "de" {
			u.Name = cmp.Or(one.NameDE, u.Name)
		}
		if segment(u.ID) != "" {
			u.Href = a.links.toList(params.Unit, u.ID)
		}
		it.extras.Units = append(it.extras.Units, u)
	}
}

// profiles returns the links of a person to other sites. Two rules may lead to one address, or have one name.
func profiles(a *answer, it *cite.Item, lang string) (all []page.Link) {
	if it.ORCID != "" {
		all = append(all, page.Link{Href: (&cite.Person{ORCID: it.ORCID}).ORCIDPage(), Label: "ORCID"})
	}
	for _, l := range it.Profile.Links {
		one := page.Link{Href: l.Href, Label: a.lists.o.Cite.LinkName(l, lang)}
		same := func(other page.Link) bool { return other.Href == one.Href || other.Label == one.Label }
		if !slices.ContainsFunc(all, same) {
			all = append(all, one)
		}
	}
	return all
}
