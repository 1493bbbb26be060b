package lists

import (
	"cmp"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/proxy/lists/page"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/lists/selection"
	"vitrine/proxy/lists/texts"
	"vitrine/rules/cite"
	"vitrine/rules/mark"
	"vitrine/rules/markup"
	"vitrine/rules/raw"
)

// onItemPage are the parts that the page of an item shows by default.
var onItemPage = []string{"badges", "keywords", "oa", "pdf", "units"}

// show adds to an item the parts that the request asks for. They come from the row, and take no memory beside it.
// An unknown part cannot occur: params.Parse has checked the names, and doi and pdf, which have no case here,
// change the links (see item.elsewhere).
func (a *answer) show(it *item, row bson.Raw) {
	if a.ofPersons() {
		showPerson(a, it)
		return
	}
	lang := a.query.Text(params.Lang)
	if it.shown = a.query[params.Show]; len(it.shown) == 0 && a.isItem() && a.format.suffix == "" {
		it.shown = onItemPage
	}
	// Citations to copy from a list have at most as many persons as the list.
	entry := it.brief
	if a.format.suffix == ".json" { // programs read its fields
		entry = &it.Item
	}
	for _, part := range it.shown {
		switch x := &it.extras; part {
		case "abstract":
			x.Abstract = a.paragraphs(it)
		case "badges":
			x.Badges = a.mapping.Badges(&it.Item, lang)
		case "altmetric", "dimensions":
			if it.DOI != "" && slices.Contains(a.lists.o.Badges, part) {
				x.Figures = append(x.Figures, page.Figure{Service: part, DOI: it.DOI})
			}
		case "bibtex":
			x.BibTeX = string(cite.AppendBibTeX(nil, entry, false))
		case "ris":
			x.RIS = string(cite.AppendRIS(nil, entry))
		case "keywords":
			for _, word := range it.brief.Keywords {
				x.Keywords = append(x.Keywords, page.Link{Href: a.links.toKeyword(a.def.View, word), Label: word})
			}
		case "oa":
			x.OpenAccess, x.Licence = it.OA == "true", page.Link{Href: it.Licence, Label: it.Rights}
			if markup.WebURL(it.Rights) != "" {
				x.Licence.Label = texts.In(lang).T("licence")
			}
		case "units":
			for one := range mark.Entries(mark.Of(row), "units") {
				u := page.Unit{ID: raw.StringField(one, "id")}
				if u.Name = cmp.Or(selection.NameOf(one, lang), u.ID); segment(u.ID) != "" {
					u.Href = a.links.toList(params.Unit, u.ID)
				}
				x.Units = append(x.Units, u)
			}
		}
	}
}

// paragraphs returns the abstract of an item as HTML, in a list no more bytes of it than a citation may have. The
// limit counts for all paragraphs together, and the last one that fits in part ends in an ellipsis.
func (a *answer) paragraphs(it *item) []string {
	all, left := it.Paragraphs(), mostHTML
	for i := range all {
		if left -= len(all[i]); left < 0 && !a.isItem() {
			all[i] = markup.Cut(all[i], left+len(all[i])) + "…"
			return all[:i+1]
		}
	}
	return all
}

// entries joins a field of the entries in a list of a row's mark, for a cell of a table: "MOTH; OWL". Entries
// without the field are left out.
func entries(row bson.Raw, list, field string) string {
	var all []string
	for one := range mark.Entries(mark.Of(row), list) {
		if s := raw.StringField(one, field); s != "" {
			all = append(all, s)
		}
	}
	return strings.Join(all, "; ")
}

// personParts are the values of params.Show for persons. Without the parameter, lists show all of them, as far as
// the mapping rules allow.
var personParts = parts{"photo", "position", "units", "contact", "profiles"}

// showPerson adds to an item the parts of the person, and the units, that the request asks for. JSON, and the card
// of a list about the person, have all parts.
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

// profiles returns the links of a person to other sites. If two rules lead to the same address, or have the same
// name, it returns the first.
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
