package lists

import (
	"cmp"
	"slices"
	"strings"

	"vitrine/proxy/lists/page"
	"vitrine/proxy/lists/texts"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/cite"
	"vitrine/rules/identifier"
	"vitrine/rules/pages"
)

// html returns a function that writes the HTML of a list or an item by two functions of package page: whole pages,
// or fragments. The links to other formats are in a header, too, for programs that do not read HTML.
func html(list func(*page.List) []byte, single func(*page.Record) []byte) func(*document) (*response.Body, error) {
	return func(d *document) (*response.Body, error) {
		if d.single {
			r := d.record()
			return bodyOf(single(r), signposts(&d.items[0].Item, r)...), nil
		}
		// JSON-LD has the items as they are in a list, without what is too much there.
		data := []byte(listHead(d.Title, d.Count))
		for i, it := range d.items {
			if i > 0 {
				data = append(data, ',')
			}
			data = appendListItem(data, it.brief, it.position, d.links)
			d.Items = append(d.Items, it.model())
		}
		if d.linkedData {
			d.JSONLD = append(data, "]}"...)
		}
		d.Description = d.description()
		links := []link{{d.Canonical, "canonical", ""}}
		for _, e := range d.Exports {
			links = append(links, link{e.Href, "alternate", e.Type})
		}
		return bodyOf(list(&d.List), links...), nil
	}
}

// description returns the number of entries and the titles of the first ones.
func (d *document) description() string {
	parts := []string{texts.In(d.Lang).Entries(d.Count)}
	for _, it := range d.items[:min(len(d.items), 3)] {
		parts = append(parts, it.headline(titleOf(&it.Item), d.Lang))
	}
	return beginning(strings.Join(parts, " · "))
}

// mostDescribed is the most characters of a description. Search engines show about 160, and cut the rest
// themselves.
const mostDescribed = 200

// beginning returns a text in one line, cut at a word if it is long.
func beginning(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > mostDescribed {
		text = string(runes[:mostDescribed])
		text = text[:cmp.Or(max(strings.LastIndexByte(text, ' '), 0), len(text))] + "…"
	}
	return text
}

// model returns the item for package page.
func (it *item) model() page.Item {
	if it.person != nil {
		return page.Item{Groups: it.groups, ID: it.ID, HTML: it.html, Person: it.person, Extras: it.extras}
	}
	return page.Item{
		Groups: it.groups, ID: it.ID, Key: it.Key, Href: it.page, Lang: it.Language, HTML: it.html,
		CitationLang: it.citationLang,
		Links:        it.elsewhere(),
		COinS:        string(cite.AppendCOinS(nil, it.brief)), Extras: it.extras,
	}
}

// elsewhere returns the links of an item to its publication. With the part doi, the link shows the DOI itself. A
// stored address that is that of the PDF appears once.
func (it *item) elsewhere() (all []page.Link) {
	add := func(href, label, media string) {
		if href != "" {
			all = append(all, page.Link{Href: href, Label: label, Type: media})
		}
	}
	label := "DOI"
	if it.shown.have("doi") {
		label = "doi:" + it.DOI
	}
	add(identifier.DOIAddress(it.DOI), label, "")
	if it.URL != it.PDF || !it.shown.have("pdf") {
		add(it.URL, "URL", "")
	}
	if it.shown.have("pdf") {
		add(it.PDF, "PDF", "application/pdf")
	}
	return all
}

// record returns the model for the page of the single item of the document. Unlike an item of a list, it has all
// persons, fields and keywords, and the tags that reference managers read.
func (d *document) record() *page.Record {
	it := d.items[0]
	r := &page.Record{
		Head: d.Head, Heading: it.Title, Item: it.model(), Abstract: it.Paragraphs(),
		BibTeX: string(cite.AppendBibTeX(nil, &it.Item, false)), Lists: d.memberOf,
	}
	r.People = slices.DeleteFunc([]page.Role{
		{Name: "authors", Persons: it.authors}, {Name: "editors", Persons: d.links.persons(it.Editors)},
		{Name: "supervisors", Persons: d.links.persons(it.Supervisors)},
	}, func(role page.Role) bool { return len(role.Persons) == 0 })
	var about []string
	for _, p := range it.authors {
		about = append(about, p.Name)
	}
	// Without an abstract, search engines get the persons, the type, the venue and the year.
	about = []string{strings.Join(about, "; "), cmp.Or(it.subkind, it.kind), it.Container, it.year}
	about = slices.DeleteFunc(about, func(s string) bool { return s == "" })
	r.Description = beginning(cmp.Or(it.Abstract, strings.Join(about, " · ")))
	if len(it.shownNotices) > 0 {
		r.Description = beginning(it.shownNotices[0].Label + ": " + r.Description)
	}
	r.Notices = it.shownNotices
	// If the site has a page for each activity, search engines are to show that one.
	r.Canonical = d.page
	if d.links.Activity != "" && d.links.Activity != NoLink && d.view == rules.ViewActivities {
		r.Canonical = d.links.ToItem(&it.Item) // the address of the record on the site
	}
	r.Fields = slices.DeleteFunc([]page.Param{
		{Name: "type", Value: cmp.Or(it.subkind, it.kind)},
		{Name: "date", Value: cmp.Or(it.period, it.year)},
		{Name: "status", Value: texts.In(d.Lang).Value("status", it.Status)},
		{Name: "container", Value: it.Container}, {Name: "event", Value: it.Event}, {Name: "place", Value: it.Place},
		{Name: "publisher", Value: it.Publisher}, {Name: "volume", Value: it.Volume},
		{Name: "issue", Value: it.Issue},
		{Name: "work-number", Value: cmp.Or(it.Number, it.ArticleNumber())},
		{Name: "pages", Value: pages.Dashed(it.Pages)},
		{Name: "funder", Value: strings.TrimSpace(it.Funder + " " + it.Grant)}, {Name: "ISBN", Value: it.ISBN},
		{Name: "ISSN", Value: it.ISSN},
	}, func(f page.Param) bool { return f.Value == "" })
	cite.Meta(&it.Item, func(name, content string) {
		r.Meta = append(r.Meta, page.Param{Name: name, Value: content})
	})
	if d.linkedData {
		r.JSONLD = appendSchema(nil, &it.Item, d.links)
	}
	return r
}

// mostSignposts is the most links of one kind in a header. Proxies and clients refuse long headers: nginx reads one
// of 4 or 8 KiB by default.
const mostSignposts = 20

// signposts are the links that guide programs from an item's page (signposting.org/FAIR).
func signposts(it *cite.Item, r *page.Record) []link {
	all := []link{
		{r.Canonical, "canonical", ""}, {cmp.Or(identifier.DOIAddress(it.DOI), r.Self), "cite-as", ""},
		{"https://schema.org/AboutPage", "type", ""}, {"https://schema.org/" + it.Forms.Schema, "type", ""},
	}
	if it.Licence != "" {
		all = append(all, link{it.Licence, "license", ""})
	}
	for _, p := range it.Authors[:min(len(it.Authors), mostSignposts)] {
		if p.ORCID != "" {
			all = append(all, link{p.ORCIDPage(), "author", ""})
		}
	}
	for _, e := range r.Exports {
		all = append(all, link{e.Href, "describedby", e.Type})
	}
	for _, c := range r.Lists[:min(len(r.Lists), mostSignposts)] {
		all = append(all, link{c.Href, "collection", "text/html"})
	}
	return all
}
