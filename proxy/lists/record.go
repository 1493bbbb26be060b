package lists

import (
	"cmp"
	"slices"

	"vitrine/proxy/lists/page"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/lists/selection"
	"vitrine/proxy/lists/texts"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/cite"
	"vitrine/rules/doi"
	"vitrine/rules/mark"
	"vitrine/rules/raw"
)

// record is the HTML of a single item.
func (a *answer) record(write func(*page.Record) []byte) *response.Body {
	it := a.items[0]
	m := &page.Record{
		Head: a.head(a.asked.Only(params.Lang, params.Style), a.url("", nil)),
		Item: a.shown(it), Abstract: it.Abstract, Authors: a.people(it),
		BibTeX: string(cite.AppendBibTeX(nil, &it.Item, false)), Lists: a.collections(it),
	}
	if a.links.Activity != "" && a.links.Activity != cite.NoLink && a.View == rules.ViewActivities {
		m.Canonical = a.links.ToItem(&it.Item) // the site's own page of the record
	}
	m.Fields = slices.DeleteFunc([]page.Param{
		{Name: "type", Value: cmp.Or(a.Label(params.Subtype, it.Subtype, it.row), a.Label(params.Type, it.Type, it.row))},
		{Name: "date", Value: cmp.Or(it.period(), it.year())},
		{Name: "container", Value: it.Container}, {Name: "event", Value: it.Event}, {Name: "place", Value: it.Place},
		{Name: "publisher", Value: it.Publisher}, {Name: "volume", Value: it.Volume}, {Name: "issue", Value: it.Issue}, {Name: "pages", Value: it.Pages},
		{Name: "ISBN", Value: it.ISBN}, {Name: "ISSN", Value: it.ISSN},
	}, func(f page.Param) bool { return f.Value == "" })
	cite.Meta(&it.Item, func(name, content string) {
		m.Meta = append(m.Meta, page.Param{Name: name, Value: content})
	})
	if a.q.Flag(params.JSONLD) {
		m.JSONLD = a.appendSchema(nil, it)
	}
	return bodyOf(write(m), 1, signposts(it, m)...)
}

// collections are the lists that have an item: of its view, and of what its mark names.
func (a *answer) collections(it *item) []page.Link {
	lang := a.q.Text(params.Lang)
	all := []page.Link{{Href: a.links.Base + "/lists/" + a.View, Label: texts.In(lang).T(a.View)}}
	for _, k := range kinds {
		for one := range mark.Entries(mark.Of(it.row), k.name+"s") {
			if id := raw.StringField(one, "id"); cite.Segment(id) != "" {
				all = append(all, page.Link{Href: a.links.Base + "/lists/" + k.name + "/" + cite.Segment(id), Label: cmp.Or(selection.NameOf(one, lang), id)})
			}
		}
	}
	return all
}

// mostSignposts is how many links of a kind a header has at most.
const mostSignposts = 20

// signposts are the links that lead programs from an item's page (signposting.org/FAIR).
func signposts(it *item, m *page.Record) []page.Link {
	all := []page.Link{{Href: m.Canonical, Label: "canonical"}, {Href: m.Self, Label: "cite-as"}, {Href: "https://schema.org/AboutPage", Label: "type"}}
	if it.DOI != "" {
		all[1].Href = doi.URL(it.DOI)
	}
	if it.Forms.Schema != "" {
		all = append(all, page.Link{Href: "https://schema.org/" + it.Forms.Schema, Label: "type"})
	}
	for _, p := range it.Authors[:min(len(it.Authors), mostSignposts)] {
		if p.ORCID != "" {
			all = append(all, page.Link{Href: p.ORCIDPage(), Label: "author"})
		}
	}
	for _, e := range m.Exports {
		all = append(all, page.Link{Href: e.Href, Label: "describedby", Type: e.Type})
	}
	for _, c := range m.Lists[:min(len(m.Lists), mostSignposts)] {
		all = append(all, page.Link{Href: c.Href, Label: "collection", Type: "text/html"})
	}
	return all
}
