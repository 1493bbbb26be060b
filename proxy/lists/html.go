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

// fragment is the HTML of a list or an item to include in other pages.
func (l *listing) fragment(ctx context.Context) (*response.Body, error) {
	if l.kind == items {
		return l.record(ctx, page.SingleFragment)
	}
	m, err := l.model(ctx)
	if err != nil {
		return nil, err
	}
	if l.list.pageURL != "" {
		m.First, m.Prev, m.Next, m.Last = l.pager(m.Pages, func(n int) string {
			return strings.ReplaceAll(l.list.pageURL, "{page}", strconv.Itoa(n))
		})
	}
	return l.document(page.Fragment(m), m.Canonical, m.Count), nil
}

// page is a whole page of a list or an item.
func (l *listing) page(ctx context.Context) (*response.Body, error) {
	if l.kind == items {
		return l.record(ctx, page.Single)
	}
	m, err := l.model(ctx)
	if err != nil {
		return nil, err
	}
	found, err := l.Facets(ctx, true)
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		shown := page.Facet{Name: f.Name}
		for _, v := range f.Values {
			href := l.url("", l.asked.Toggle(f.Name, v.Value))
			shown.Values = append(shown.Values, page.FacetValue{Value: v.Value, Label: v.Label, Href: href, Count: v.Count, Active: v.Active})
		}
		m.Facets = append(m.Facets, shown)
	}
	return l.document(page.Page(m), m.Canonical, m.Count), nil
}

// document is the body of HTML, with the links of the list it is about.
func (l *listing) document(html []byte, canonical string, count int) *response.Body {
	body := response.Bytes(html)
	body.Count, body.Links = count, `<`+canonical+`>; rel="canonical"`
	for _, e := range l.exports() {
		body.Links += `, <` + e.Href + `>; rel="alternate"; type="` + e.Type + `"`
	}
	return body
}

// model is what the HTML of a list shows, without its facets.
func (l *listing) model(ctx context.Context) (*page.List, error) {
	title, err := l.heading(ctx)
	if err != nil {
		return nil, err
	}
	m := &page.List{
		Head: l.head(title, l.asked.With(params.Heading).With(params.JSONLD), l.canonicalURL()), Heading: l.q.Number(params.Heading),
		Page: l.q.Number(params.Page), Limit: l.q.Number(params.Limit), Q: l.q.Text(params.Words),
		Group: l.q.Text(params.Group), Sort: l.q.Text(params.Sort), Style: l.q.Text(params.Style),
	}
	if narrowed := l.asked.Only(append(params.Filters(), params.Words, params.IDs, params.Exclude)...); narrowed.String() != "" {
		m.Reset = l.url("", l.asked.Beyond(narrowed).With(params.Page).With(params.Deep))
	}
	for _, name := range append(params.Filters(), params.Deep, params.IDs, params.Exclude, params.Limit, params.Facets, params.Lang, params.Style) {
		if value := l.asked.Spelled(name); value != "" {
			m.Params = append(m.Params, page.Param{Name: name, Value: value})
		}
	}
	var data []byte
	if m.Count, m.Pages, err = l.pages(ctx); err != nil {
		return nil, err
	}
	m.First, m.Prev, m.Next, m.Last = l.pager(m.Pages, l.numbered(""))
	for it, err := range l.items(ctx) {
		if err != nil {
			return nil, err
		}
		if n := len(m.Groups); n == 0 || m.Groups[n-1].Title != it.group {
			m.Groups = append(m.Groups, page.Group{Title: it.group})
		}
		last := &m.Groups[len(m.Groups)-1]
		shown, err := l.shown(ctx, it)
		if err != nil {
			return nil, err
		}
		last.Items = append(last.Items, shown)
		if len(data) > 0 {
			data = append(data, ',')
		}
		data = l.appendListItem(data, it)
	}
	if l.q.Flag(params.JSONLD) {
		m.JSONLD = append(append([]byte(listHead(title, m.Count)), data...), "]}"...)
	}
	return m, nil
}

// head is what the page of a list or an item has in common with others. Its own parameters
// are asked.
func (l *listing) head(title string, asked params.Query, canonical string) page.Head {
	return page.Head{
		Title: title, Lang: l.q.Text(params.Lang), Base: l.base, Self: l.url("", asked), Canonical: canonical,
		Exports: l.exports(), Languages: l.languages(), AsOf: l.snap.Meta().Published,
	}
}

// pages returns how many records and how many pages the list has.
func (l *listing) pages(ctx context.Context) (records, pages int, err error) {
	records, entries, err := l.Size(ctx)
	limit := max(l.q.Number(params.Limit), 1)
	return records, max((entries+limit-1)/limit, 1), err
}

// pager returns the addresses of the first, previous, next and last page; empty where there
// is none, or it is this one.
func (l *listing) pager(pages int, of func(int) string) (first, prev, next, last string) {
	if n := l.q.Number(params.Page); n > 1 {
		first, prev = of(1), of(min(n-1, pages))
	}
	if n := l.q.Number(params.Page); n < pages {
		next, last = of(n+1), of(pages)
	}
	return first, prev, next, last
}

// numbered returns the address of each page of the list in a face.
func (l *listing) numbered(suffix string) func(int) string {
	return func(n int) string { return l.url(suffix, l.asked.With(params.Page, strconv.Itoa(n))) }
}

// canonicalURL is the address under which search engines are to keep the list: that of the
// page that it feeds, if there is one.
func (l *listing) canonicalURL() string {
	if l.list.pageURL != "" {
		return strings.ReplaceAll(l.list.pageURL, "{page}", l.q.Text(params.Page))
	}
	canonical := *l.list
	if l.canonical != "" {
		canonical.path = l.canonical
	}
	named := *l
	named.list = &canonical
	return named.url("", l.asked.With(params.Heading).With(params.JSONLD).With(params.Facets).With(params.Style))
}

// exports are the files and feeds of the list, of all pages.
func (l *listing) exports() (all []page.Link) {
	for _, f := range faces {
		if f.label != "" && !(l.kind == items && f.isFeed()) {
			all = append(all, page.Link{Href: l.export(f), Label: f.label, Type: f.mediaType()})
		}
	}
	return all
}

// export is the address of the whole list in another face.
func (l *listing) export(f face) string {
	q := l.asked.Only(append(params.Filters(), params.Words, params.Deep, params.IDs, params.Exclude, params.Lang)...)
	if !slices.Contains(f.reads, params.Lang) {
		q = q.With(params.Lang)
	}
	return l.url(f.suffix, q)
}

// languages are the addresses of the page in other languages.
func (l *listing) languages() (all []page.Link) {
	for _, lang := range label.Languages() {
		if lang != l.q.Text(params.Lang) {
			all = append(all, page.Link{Href: l.url("", l.asked.With(params.Lang, lang).Beyond(l.usual)), Label: texts.In(lang).T("language"), Type: lang})
		}
	}
	return all
}

// record is the HTML of a single item.
func (l *listing) record(ctx context.Context, write func(*page.Record) []byte) (*response.Body, error) {
	for it, err := range l.items(ctx) {
		if err != nil {
			return nil, err
		}
		shown, err := l.shown(ctx, it)
		if err != nil {
			return nil, err
		}
		m := l.recordOf(it, shown)
		body := response.Bytes(write(m))
		body.Links = l.signposts(it, m)
		return body, nil
	}
	return nil, notFound("There is no such item.")
}

// recordOf is what the page of an item shows.
func (l *listing) recordOf(it *item, shown page.Item) *page.Record {
	m := &page.Record{
		Head: l.head(it.title(), l.asked.Only(params.Lang, params.Style), l.url("", params.Query{})),
		Item: shown, Abstract: it.Abstract, BibTeX: string(cite.AppendBibTeX(nil, &it.Item, false)), Lists: l.collections(it),
	}
	if l.links.Activity != "" && l.links.Activity != params.None && l.view == rules.ViewActivities {
		m.Canonical = l.links.ToItem(&it.Item) // the site's own page of the record
	}
	for _, p := range it.Authors {
		author := page.Author{Name: p.Inverted(), ORCID: p.ORCID}
		if p.User != "" {
			author.Href = l.links.ToPerson(p.User)
		}
		m.Authors = append(m.Authors, author)
	}
	ours := texts.In(m.Lang)
	for _, f := range []page.Param{
		{Name: "type", Value: cmp.Or(l.Label(params.Subtype, it.Subtype, it.row), l.Label(params.Type, it.Type, it.row))},
		{Name: "date", Value: cmp.Or(period(it.Date, it.End), yearOf(it))},
		{Name: "container", Value: it.Container}, {Name: "event", Value: it.Event}, {Name: "place", Value: it.Place},
		{Name: "publisher", Value: it.Publisher}, {Name: "volume", Value: it.Volume}, {Name: "issue", Value: it.Issue}, {Name: "pages", Value: it.Pages},
		{Name: "ISBN", Value: it.ISBN}, {Name: "ISSN", Value: it.ISSN},
	} {
		if f.Value != "" {
			m.Fields = append(m.Fields, page.Param{Name: ours.T(f.Name), Value: f.Value})
		}
	}
	for _, tag := range cite.Meta(&it.Item) {
		m.Meta = append(m.Meta, page.Param{Name: tag.Name, Value: tag.Content})
	}
	if l.q.Flag(params.JSONLD) {
		data := cite.AppendJSONLD(nil, &it.Item, l.links)
		m.JSONLD = append([]byte(schema+","), data[1:]...)
	}
	return m
}

// collections are the lists that have an item: of its view, and of what its mark names.
func (l *listing) collections(it *item) []page.Link {
	lang := l.q.Text(params.Lang)
	all := []page.Link{{Href: l.base + "/lists/" + l.view, Label: texts.In(lang).T(l.view)}}
	for _, kind := range kinds {
		for one := range mark.Entries(mark.Of(it.row), kind+"s") {
			if id := raw.StringField(one, "id"); cite.Segment(id) != "" {
				all = append(all, page.Link{Href: l.base + "/lists/" + kind + "/" + cite.Segment(id), Label: cmp.Or(selection.NameOf(one, lang), id)})
			}
		}
	}
	return all
}

// mostSignposts is how many links of a kind a header has at most.
const mostSignposts = 20

// signposts are the links that lead programs from an item's page (signposting.org/FAIR).
func (l *listing) signposts(it *item, m *page.Record) string {
	var b strings.Builder
	link := func(href, rel, media string) {
		if href == "" {
			return
		}
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString("<" + targets.Replace(href) + `>; rel="` + rel + `"`)
		if media != "" {
			b.WriteString(`; type="` + media + `"`)
		}
	}
	link(m.Canonical, "canonical", "")
	citeAs := m.Self
	if it.DOI != "" {
		citeAs = doi.URL(it.DOI)
	}
	link(citeAs, "cite-as", "")
	link("https://schema.org/AboutPage", "type", "")
	if it.Forms.Schema != "" {
		link("https://schema.org/"+it.Forms.Schema, "type", "")
	}
	for i, p := range it.Authors {
		if p.ORCID != "" && i < mostSignposts {
			link(p.ORCIDPage(), "author", "")
		}
	}
	for _, e := range m.Exports {
		link(e.Href, "describedby", e.Type)
	}
	for i, c := range m.Lists {
		if i < mostSignposts {
			link(c.Href, "collection", "text/html")
		}
	}
	return b.String()
}

// targets writes an address so that it ends no link and no header.
var targets = strings.NewReplacer("<", "%3C", ">", "%3E", " ", "%20", `"`, "%22", "\r", "", "\n", "")
