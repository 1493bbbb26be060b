package lists

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"vitrine/proxy/lists/page"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/lists/selection"
	"vitrine/proxy/lists/texts"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/cite"
	"vitrine/rules/doi"
	"vitrine/rules/label"
	"vitrine/rules/mark"
	"vitrine/rules/raw"
)

// html returns what builds the HTML of a list or of an item.
func html(list func(*page.List) []byte, single func(*page.Record) []byte) build {
	return func(ctx context.Context, a *answer) (*response.Body, error) {
		if a.isItem() {
			return a.record(single), nil
		}
		m, err := a.model(ctx)
		links := []link{{m.Canonical, "canonical", ""}}
		for _, e := range m.Exports {
			links = append(links, link{e.Href, "alternate", e.Type})
		}
		return bodyOf(list(m), a.count, links...), err
	}
}

// model is what the HTML of a list shows. Only its page has facets.
func (a *answer) model(ctx context.Context) (m *page.List, err error) {
	m = &page.List{
		Head: a.head(a.canonicalURL()), Heading: a.Query.Number(params.Heading),
		Count: a.count, Page: a.Query.Number(params.Page), Pages: a.pages, Limit: a.Query.Number(params.Limit),
		Q: a.Query.Text(params.Words), Group: a.Query.Text(params.Group), Sort: a.Query.Text(params.Sort), Turns: a.turns(),
	}
	if narrowed := a.asked.Only(narrowing...).With(params.Deep); len(narrowed) > 0 {
		m.Reset = a.url("", a.asked.Beyond(narrowed).With(params.Page).With(params.Deep))
	}
	for _, name := range append(params.Filters(), params.Deep, params.IDs, params.Exclude, params.Limit, params.Facets, params.Lang, params.Style) {
		if value := a.asked.Spelled(name); value != "" {
			m.Params = append(m.Params, page.Param{Name: name, Value: value})
		}
	}
	data := []byte(a.listHead())
	for i, it := range a.items {
		if i > 0 {
			data = append(data, ',')
		}
		data = a.appendListItem(data, it)
		m.Items = append(m.Items, a.shown(it))
	}
	if a.Query.Flag(params.JSONLD) {
		m.JSONLD = append(data, "]}"...)
	}
	if a.face.suffix == "" {
		m.Facets, err = a.Facets(ctx, true)
	}
	for _, f := range m.Facets {
		for i := range f.Values {
			f.Values[i].Href = a.url("", a.asked.Toggle(f.Name, f.Values[i].Value))
		}
	}
	return m, err
}

// shown returns an item as package page shows it.
func (a *answer) shown(it *item) page.Item {
	return page.Item{
		Group: it.Group, ID: it.ID, Key: it.Key, Href: a.own(it), Lang: it.Language, HTML: it.html, Links: it.outside(),
		COinS: string(cite.AppendCOinS(nil, &it.Item)),
	}
}

// head is what the page of a list or an item has in common with others, files and feeds of
// the whole list among it.
func (a *answer) head(canonical string) page.Head {
	h := page.Head{
		Title: a.title, Lang: a.Query.Text(params.Lang), Base: a.links.Base, Self: a.url("", a.asked.With(params.Heading).With(params.JSONLD)),
		Canonical: canonical, AsOf: a.Snap.Meta().Published,
	}
	for _, f := range faces {
		if f.label != "" && !(a.isItem() && f.feed) {
			h.Exports = append(h.Exports, page.Link{Href: a.export(f), Label: f.label, Type: f.media})
		}
	}
	for _, lang := range label.Languages() {
		if lang != h.Lang {
			there := a.url("", a.asked.With(params.Lang, lang).Beyond(a.usual))
			h.Languages = append(h.Languages, page.Link{Href: there, Label: texts.In(lang).T("language"), Type: lang})
		}
	}
	return h
}

// turns returns the addresses of other pages by their relation, those that there are. Those of
// a fragment are addresses of pages.
func (a *answer) turns() map[string]string {
	suffix := strings.TrimSuffix(a.face.suffix, ".html")
	address := func(n int) string { return a.url(suffix, a.asked.With(params.Page, strconv.Itoa(n))) }
	if suffix != a.face.suffix && a.PageURL != "" {
		address = a.feedingPage
	}
	n, all := a.Query.Number(params.Page), map[string]string{}
	if n > 1 {
		all["first"], all["prev"] = address(1), address(min(n-1, a.pages))
	}
	if n < a.pages {
		all["next"], all["last"] = address(n+1), address(a.pages)
	}
	return all
}

// feedingPage is the address of a page of the list on the site that shows it.
func (l *listing) feedingPage(n int) string {
	return strings.ReplaceAll(l.PageURL, "{page}", strconv.Itoa(n))
}

// canonicalURL is the address under which search engines are to keep the list: that of the
// page that it feeds, if there is one.
func (a *answer) canonicalURL() string {
	if a.PageURL != "" {
		return a.feedingPage(a.Query.Number(params.Page))
	}
	return address(a.links.Base+a.canonical, a.asked.With(params.Heading).With(params.JSONLD).With(params.Facets).With(params.Style))
}

// export is the address of the whole list in another face.
func (l *listing) export(f face) string {
	q := l.asked.Only(append(slices.Clip(narrowing), params.Lang)...)
	if !slices.Contains(f.reads, params.Lang) {
		q = q.With(params.Lang)
	}
	return l.url(f.suffix, q)
}

// record is the HTML of a single item.
func (a *answer) record(write func(*page.Record) []byte) *response.Body {
	it := a.items[0]
	m := &page.Record{
		Head: a.head(a.url("", nil)),
		Item: a.shown(it), Abstract: it.Abstract, Authors: a.people(it),
		BibTeX: string(cite.AppendBibTeX(nil, &it.Item, false)), Lists: a.collections(it),
	}
	if a.links.Activity != "" && a.links.Activity != cite.NoLink && a.View == rules.ViewActivities {
		m.Canonical = a.links.ToItem(&it.Item) // the site's own page of the record
	}
	m.Fields = slices.DeleteFunc([]page.Param{
		{Name: "type", Value: cmp.Or(a.Label(params.Subtype, it.Subtype, it.Doc()), a.Label(params.Type, it.Type, it.Doc()))},
		{Name: "date", Value: cmp.Or(it.period(), it.year())},
		{Name: "container", Value: it.Container}, {Name: "event", Value: it.Event}, {Name: "place", Value: it.Place},
		{Name: "publisher", Value: it.Publisher}, {Name: "volume", Value: it.Volume}, {Name: "issue", Value: it.Issue}, {Name: "pages", Value: it.Pages},
		{Name: "ISBN", Value: it.ISBN}, {Name: "ISSN", Value: it.ISSN},
	}, func(f page.Param) bool { return f.Value == "" })
	cite.Meta(&it.Item, func(name, content string) {
		m.Meta = append(m.Meta, page.Param{Name: name, Value: content})
	})
	if a.Query.Flag(params.JSONLD) {
		m.JSONLD = a.appendSchema(nil, it)
	}
	return bodyOf(write(m), 1, signposts(it, m)...)
}

// collections are the lists that have an item: of its view, and of what its mark names.
func (a *answer) collections(it *item) []page.Link {
	lang := a.Query.Text(params.Lang)
	all := []page.Link{{Href: a.links.Base + "/lists/" + a.View, Label: texts.In(lang).T(a.View)}}
	for _, k := range kinds {
		for one := range mark.Entries(mark.Of(it.Doc()), k.name+"s") {
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
func signposts(it *item, m *page.Record) []link {
	all := []link{
		{m.Canonical, "canonical", ""}, {cmp.Or(doi.URL(it.DOI), m.Self), "cite-as", ""},
		{"https://schema.org/AboutPage", "type", ""}, {"https://schema.org/" + it.Forms.Schema, "type", ""},
	}
	for _, p := range it.Authors[:min(len(it.Authors), mostSignposts)] {
		if p.ORCID != "" {
			all = append(all, link{p.ORCIDPage(), "author", ""})
		}
	}
	for _, e := range m.Exports {
		all = append(all, link{e.Href, "describedby", e.Type})
	}
	for _, c := range m.Lists[:min(len(m.Lists), mostSignposts)] {
		all = append(all, link{c.Href, "collection", "text/html"})
	}
	return all
}
