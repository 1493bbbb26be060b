package lists

import (
	"cmp"
	"context"
	"slices"

	"vitrine/proxy/lists/page"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/lists/texts"
	"vitrine/rules"
	"vitrine/rules/cite"
	"vitrine/rules/filter"
	"vitrine/rules/mark"
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

// findPerson adds the person whose list it is: pages show a card, and programs get the data. A person who is only
// known from activities has none.
func (d *document) findPerson(ctx context.Context, a *answer) error {
	isPage := a.format.suffix == "" && !a.query.Flag(params.Embed)
	if !a.isOfPerson() || !isPage && a.format.suffix != ".json" {
		return nil
	}
	snap, err := a.snaps.Of(rules.ViewPersons)
	if err != nil {
		return err
	}
	row, err := snap.First(ctx, filter.And(a.lists.public, a.about.among(a.rows.ID)))
	if row == nil || err != nil {
		return err
	}
	it := &item{}
	a.lists.o.Cite.View(rules.ViewPersons).Read(row, &it.Item)
	showPerson(a, it)
	it.href = a.links.ToPerson(it.User)
	d.person = it
	model := it.model()
	d.Person = &model
	return nil
}

// relatedTo adds the list of the people of a unit to the list about it, if there are any: those of the unit itself
// or, if the request asks for them or there are no others, those of the units below, too.
func (d *document) relatedTo(ctx context.Context, a *answer) error {
	if a.about.name != params.Unit || a.format.suffix != "" && a.format.suffix != ".json" {
		return nil
	}
	snap, err := a.snaps.Of(rules.ViewPersons)
	if err != nil {
		return err
	}
	where := filter.And(a.lists.public, a.lists.people().rows.Where)
	for _, path := range []string{mark.Unit, mark.In} {
		if path == mark.Unit && a.query.Flag(params.Deep) {
			continue
		}
		row, err := snap.First(ctx, filter.And(where, filter.OneOf(path, a.rows.ID)))
		if err != nil {
			return err
		}
		if row == nil {
			continue
		}
		q := params.Query{}.With(params.Unit, a.rows.ID)
		if path == mark.In {
			q = q.With(params.Deep, "1")
		}
		lang := a.query.Text(params.Lang)
		d.Related = []page.Link{{
			Href:  address(a.links.Base+"/lists/"+rules.ViewPersons, q.Over(a.asked.Only(params.Lang))),
			Label: texts.In(lang).T(rules.ViewPersons),
		}}
		return nil
	}
	return nil
}
