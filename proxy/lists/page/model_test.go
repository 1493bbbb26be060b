package page_test

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"vitrine/proxy/lists/page"
	"vitrine/rules/markup"
)

const base = "https://data.institute.example/vitrine"

// hostile is text that must stay text wherever it occurs.
const hostile = "</title></script><script>alert(1)</script>\" onload='x()' &amp; " +
	"\x00\x07\u2028\u0085\xff{{.}} ${x} --> =1+1"

// long is a word that is wider than any line.
var long = strings.Repeat("Donaudampfschifffahrt", 30)

var asOf = time.Date(2026, time.March, 5, 14, 30, 0, 0, time.UTC)

// citation is a citation as rules/markup writes it.
const citation = `<a class="colorless" href="https://doi.org/10.5555/1">Growth of <i>Bacillus</i> in H<sub>2</sub>O &amp; soil</a><br><small class="text-muted d-block">Nowak,&nbsp;A., <b>Małecki,&nbsp;D.</b> (2024) <i>Journal of Soil</i> 12(3):4–9</small>`

// folded is a citation in which persons are marked and folded.
const folded = `<a href="https://doi.org/10.5555/1">Growth</a><br><small class="text-muted d-block"><span class="vl-names">Nowak, A., <mark class="vl-mark"><a href="https://data.institute.example/vitrine/lists/person/dm"><b>Małecki,&nbsp;D.</b></a></mark><sup>#</sup><span class="vl-others">, Berg, C., Lind, I. and </span><span class="vl-gap"> … </span>Öz, E. <label class="vl-unfold" lang="en"><input type="checkbox" aria-label="and 2 more people"> and 2 more</label></span> (2024)</small>`

const coins = `ctx_ver=Z39.88-2004&amp;rft_val_fmt=info%3Aofi%2Ffmt%3Akev%3Amtx%3Ajournal&amp;rft.atitle=Growth`

var exports = []page.Link{
	{Href: base + "/lists/unit/BIO.bib?type=article", Label: "BibTeX", Type: "application/x-bibtex"},
	{Href: base + "/lists/unit/BIO.ris?type=article", Label: "RIS", Type: "application/x-research-info-systems"},
	{Href: base + "/lists/unit/BIO.atom?type=article", Label: "Atom", Type: "application/atom+xml"},
	{Href: base + "/lists/unit/BIO.csv", Label: "CSV", Type: "text/csv"},
}

func item(group, id, html, lang string) page.Item {
	return page.Item{
		Groups: []page.Group{{By: "year", Value: group, Label: group}}, ID: id, Href: base + "/items/" + id,
		Lang: lang, HTML: html, COinS: coins, Key: "nowak2024growth",
		Links: []page.Link{{Href: "https://doi.org/10.5555/1", Label: "DOI"},
			{Href: "https://example.org/full.pdf?a=1&b=2", Label: "PDF", Type: "application/pdf"}},
	}
}

// plainList is a typical list.
func plainList() *page.List {
	u := base + "/lists/unit/BIO"
	return &page.List{
		Head: page.Head{
			Title: "Publications of Biology", Lang: "en", Base: base, Self: u + "?type=article&page=2",
			Canonical:   "https://www.institute.example/publications?p=2",
			Description: "1,234 entries · Growth of Bacillus · Über \"Böden\"",
			OEmbed:      base + "/oembed?url=" + url.QueryEscape(u),
			Site:        page.Site{Title: "Institute of Soil"},
			Alternates: []page.Link{{Href: u + "?type=article", Type: "en"},
				{Href: u + "?type=article&lang=de", Type: "de"}, {Href: u + "?type=article", Type: "x-default"}},
			Exports:   exports,
			Languages: []page.Link{{Href: u + "?type=article&page=2&lang=de", Label: "Deutsch", Type: "de"}},
			AsOf:      asOf,
		},
		Reset: u, Count: 1234, Page: 2, Pages: 412, Limit: 3,
		Turns: map[string]string{"first": u + "?type=article", "prev": u + "?type=article",
			"next": u + "?type=article&page=3", "last": u + "?type=article&page=412"},
		Group: "year", Sort: "-year", Params: []page.Param{{Name: "type", Value: "article"}},
		Facets: []page.Facet{
			{Name: "year", Values: []page.FacetValue{
				{Value: "2024", Label: "2024", Href: u + "?type=article&year=2024", Count: 1200},
				{Value: "2023", Label: "2023", Href: u + "?type=article&year=2023", Count: 34},
			}},
			{Name: "type", Values: []page.FacetValue{
				{Value: "article", Label: "Journal article", Href: u, Count: 1234, Active: true},
				{Value: "book", Label: "Book", Href: u + "?type=article,book", Count: 7},
			}},
			{Name: "topic"},
		},
		Items: []page.Item{
			item("2024", "65f0c0ffee", citation, "en"),
			item("2024", "65f0c0ffef", `Ohne Links: <i>Über Böden</i>. In: Zeitschrift für Böden 7, S. 1–3.`, "de"),
			item("2023", "65f0c0fff0", citation, ""),
		},
		Years: []page.YearCount{{Year: 1998, Count: 3}, {Year: 2019, Count: 1}, {Year: 2020, Count: 1200},
			{Year: 2024, Count: 600}},
		JSONLD: []byte(`{"@context":"https://schema.org","@type":"ItemList","name":"Publications of Biology"}`),
	}
}

// shownList is a list in German with all that a request can ask for.
func shownList() *page.List {
	l := plainList()
	l.Lang = "de"
	l.Items[0].Links[0].Label = "doi:10.5555/1"
	l.Items[0].Extras = page.Extras{
		OpenAccess: true, Licence: page.Link{Href: "https://creativecommons.org/licenses/by/4.0/",
			Label: "CC BY 4.0"}, Badges: []string{"Bester Beitrag", "Quartil: Q1"},
		Units:    []page.Unit{{ID: "BIO", Name: "Biologie", Href: base + "/lists/unit/BIO"}, {ID: "?", Name: "?"}},
		Keywords: []page.Link{{Label: "soil", Href: base + "/lists/activities?keyword=soil"}, {Label: "H2O & more"}},
		Abstract: []string{"Soil is alive. And wet."}, BibTeX: plainRecord().BibTeX,
		RIS: "TY  - JOUR\r\nTI  - Growth\r\nER  - \r\n",
	}
	l.Items[1].Extras = page.Extras{Licence: page.Link{Label: "nur zum Lesen"}}
	return l
}

// germanList is an empty list in German.
func germanList() *page.List {
	l := plainList()
	l.Title, l.Lang, l.Q, l.Sort, l.Count, l.Pages, l.Page, l.Items =
		"Publikationen der Biologie", "de", "gibt es nicht", "relevance", 0, 0, 1, nil
	l.Turns, l.JSONLD, l.Heading = nil, nil, 3
	return l
}

// hostileList has hostile values in every place that allows one.
func hostileList() *page.List {
	l := plainList()
	bad := page.Link{Href: "javascript:alert(1)//" + hostile, Label: hostile, Type: hostile}
	l.Description, l.OEmbed, l.Site, l.Alternates = hostile+
		long, bad.Href, page.Site{Title: hostile, URL: bad.Href}, []page.Link{bad}
	l.Title, l.Q, l.Self, l.Canonical, l.Reset = hostile+long, hostile, base+"/lists/"+hostile+"?"+hostile, base+"/"+
		hostile, bad.Href
	l.Turns = map[string]string{"first": "javascript:alert(1)", "prev": "//evil.example", "next": `/\evil.example`,
		"last": "data:text/html,x"}
	l.Params = []page.Param{{Name: hostile, Value: hostile}}
	l.Facets = []page.Facet{{Name: hostile,
		Values: []page.FacetValue{{Value: hostile, Label: hostile + long, Href: base + "/" + hostile, Active: true},
			{Label: hostile, Href: bad.Href}}}}
	l.Exports, l.Languages = []page.Link{bad}, []page.Link{{Href: bad.Href, Label: hostile, Type: "de"}}
	it := item(hostile, hostile, "<b>"+long+"</b>", hostile)
	it.Key, it.Href, it.Links = hostile, bad.Href, []page.Link{bad}
	it.Extras = page.Extras{
		OpenAccess: true, Licence: bad, Badges: []string{hostile, long},
		Units: []page.Unit{{ID: hostile, Name: hostile, Href: bad.Href}},
		Keywords: []page.Link{
			{Label: long, Href: hostile}, {Label: hostile, Href: "/lists/activities?keyword=" + long},
		},
		Abstract: markup.Paragraphs(markup.Escape(hostile + long)), BibTeX: hostile + long, RIS: hostile,
	}
	l.Items = []page.Item{it, item(hostile, "1", "<a href=\"/x\">عنوان</a> \u202e مقال عن التربة (2024)", "ar")}
	l.JSONLD = []byte(`{"name":"</script><script>alert(1)</script><!--"}`)
	return l
}

func persons() []page.Author {
	return []page.Author{
		{Name: "Nowak, Anna", Href: base + "/lists/person/an", ORCID: "0000-0002-1825-0097"},
		{Name: "Małecki, Dariusz"},
	}
}

func plainRecord() *page.Record {
	it := item("", "65f0c0ffee", citation, "en")
	return &page.Record{
		Head: page.Head{Title: "Growth of Bacillus in H2O & soil", Lang: "en", Base: base,
			Self: base + "/items/65f0c0ffee", Exports: exports, AsOf: asOf},
		Heading: "Growth of <i>Bacillus</i> in H<sub>2</sub>O &amp; soil",
		Item:    it,
		People:  []page.Role{{Name: "authors", Persons: persons()}, {Name: "editors", Persons: persons()[1:]}},
		Fields: []page.Param{{Name: "Type", Value: "Journal article"}, {Name: "Year", Value: "2024"},
			{Name: "Journal", Value: "Journal of Soil"}},
		Abstract: []string{"Soil is <i>alive</i>. And wet.", "A second paragraph."},
		BibTeX: "@article{nowak2024growth,\n  title = {Growth of \\textit{Bacillus} in {H\\textsubscript{2}O} " +
			"\\& soil},\n  author = {Nowak, Anna and Małecki, Dariusz},\n  year = {2024},\n}\n",
		Meta: []page.Param{{Name: "citation_title", Value: "Growth of Bacillus in H2O & soil"},
			{Name: "citation_author", Value: "Nowak, Anna"}, {Name: "citation_publication_date", Value: "2024"}},
		JSONLD: []byte(`{"@context":"https://schema.org","@type":"ScholarlyArticle"}`),
		Lists:  []page.Link{{Href: base + "/lists/unit/BIO", Label: "Publications of Biology"}},
	}
}

func hostileRecord() *page.Record {
	r := plainRecord()
	r.Title, r.Self, r.Canonical = hostile+long, base+"/items/"+hostile, base+"/"+hostile
	r.Abstract, r.BibTeX = markup.Paragraphs(markup.Escape(hostile)+"<p>"+long), hostile+long
	person := page.Author{Name: hostile, Href: "javascript:x()", ORCID: hostile}
	r.People = []page.Role{{Name: hostile, Persons: []page.Author{person}}}
	r.Fields, r.Meta = []page.Param{{Name: hostile, Value: hostile}}, []page.Param{{Name: hostile, Value: hostile}}
	r.Item = hostileList().Items[0]
	r.JSONLD = []byte(`{"name":"</script><script>alert(1)</script>"}`)
	return r
}

func overview(lang string) (page.Head, []page.Section) {
	site := page.Site{Title: "Institute of Soil", URL: "https://www.institute.example/"}
	return page.Head{Lang: lang, Base: base, Self: base + "/", AsOf: asOf, Site: site},
		[]page.Section{
			{Title: "",
				Lists: []page.ListEntry{{Title: "Publications", Href: base + "/lists/bio-papers", Count: 1234},
					{Title: "Everything & more", Href: base + "/lists/activities", Count: 7519},
					{Title: "People", Href: base + "/lists/persons", Count: 42, Persons: true}}},
			{Title: "Units", Kind: "unit",
				Lists: []page.ListEntry{{Title: "Biology", Href: base + "/lists/unit/BIO", Count: 321},
					{Title: "Microbial Ecology and Diversity Research", Href: base + "/lists/unit/MED", Count: 1}}},
			{Title: "Topics", Kind: "topic",
				Lists: slices.Concat(
					slices.Repeat(
						[]page.ListEntry{{Title: "Äther", Href: base + "/lists/topic/ether", Count: 3, Letter: "A"}},
						2), slices.Repeat([]page.ListEntry{{
						Title: "Soil", Href: base + "/lists/topic/soil", Count: 3, Letter: "S"}}, 51))},
			{Title: "Nothing"},
		}
}

func hostileOverview() (page.Head, []page.Section) {
	h, _ := overview(hostile)
	h.Site = page.Site{Title: hostile, Logo: "javascript:x()", URL: "javascript:x()"}
	lists := []page.ListEntry{{Title: hostile + long, Href: "javascript:x()//" + hostile, Count: -1, Letter: hostile}}
	return h, []page.Section{{Title: hostile, Lists: lists},
		{Title: hostile, Kind: hostile, Lists: slices.Repeat(lists, 51)}}
}

// indexOf returns the index of lists in German.
func indexOf(words string, overview func(lang string) (page.Head, []page.Section)) []byte {
	h, sections := overview("de")
	return page.Index(h, words, sections)
}

// start returns a start page with a field of each kind.
func start(h page.Head, sections []page.Section) []byte {
	return page.Start(h, sections, []page.Field{
		{Name: "q"}, {Name: "year", Many: true}, {Name: "type", Many: true}, {Name: "not.type", Many: true},
		{Name: "unit", Many: true}, {Name: "person", Many: true},
		{Name: "deep", Words: []string{"0", "1"}}, {Name: "ids", Many: true},
		{Name: "group", Words: []string{"none", "year", "type"}, Many: true},
		{Name: "limit", From: 1, To: 200}, {Name: "facets", Words: []string{"year", "none"}, Many: true},
		{Name: "lang", Words: []string{"en", "de"}}, {Name: "jsonld", Words: []string{"0", "1"}},
		{Name: "sort", Words: []string{"year", "title", "author"}}, {Name: "pager", Words: []string{"0", "1"}},
		{Name: "show", Words: []string{"altmetric", "none", "oa", "photo", "units"}, Many: true},
	})
}

// documents are pages and fragments of all kinds, by the names of their golden files.
func documents() map[string][]byte {
	wide := plainList()
	wide.Lang = "de"
	wide.Items[0].HTML = folded
	many := plainRecord()
	many.Item.HTML, many.People = folded, []page.Role{
		{Name: "authors", Persons: slices.Repeat(persons(), 30)},
		{Name: "supervisors", Persons: slices.Repeat(persons(), 11)},
	}
	nested := plainList()
	for i := range nested.Items {
		g := &nested.Items[i].Groups
		nested.Items[i].HTML = folded
		(*g)[0].Continued, (*g)[0].Count = i < 2, 1200
		*g = append(*g, []page.Group{{By: "type", Value: "a/b", Label: "Article & more", Continued: true},
			{By: "type", Label: "Other", Count: 7}}[min(i, 1)])
	}
	bare, bareItem := plainList(), plainRecord()
	bare.Embed, bare.Theme, bareItem.Embed = true, "dark", true
	return map[string][]byte{
		"list-embedded": page.Page(bare), "item-embedded": page.Single(bareItem),
		"fragment": page.Fragment(plainList()), "fragment-nested": page.Fragment(nested),
		"fragment-empty": page.Fragment(germanList()), "fragment-hostile": page.Fragment(hostileList()),
		"article": page.SingleFragment(plainRecord()), "article-hostile": page.SingleFragment(hostileRecord()),
		"list-shown": page.Page(shownList()), "fragment-shown": page.Fragment(shownList()),
		"list": page.Page(plainList()), "list-german": page.Page(wide), "list-empty": page.Page(germanList()),
		"list-hostile": page.Page(hostileList()),
		"list-persons": page.Page(personsList()), "list-persons-hostile": page.Page(hostilePersons()),
		"item": page.Single(plainRecord()), "item-many": page.Single(many),
		"item-hostile": page.Single(hostileRecord()),
		"index":        indexOf("", overview), "index-found": indexOf(hostile, overview),
		"index-hostile": indexOf(hostile,
			func(string) (page.Head, []page.Section) {
				return hostileOverview()
			}), "index-none": indexOf("nix",
			func(lang string) (h page.Head, none []page.Section) {
				h, _ = overview(lang)
				return
			}), "start": start(overview("en")), "start-hostile": start(hostileOverview()),
		"start-without-lists": start(page.Head{Lang: "de", Base: base}, nil),
		"failure": page.Failure(404, page.Head{Title: "Nicht gefunden", Lang: "de"},
			"Die Liste "+hostile+" gibt es nicht."),
	}
}
