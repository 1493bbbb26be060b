package page

import (
	"html/template"
	"net/url"
)

// sorts and groups are what the form of a list offers.
var (
	sorts  = []string{"-year", "year", "title", "type", "author"}
	groups = []string{"none", "year", "type", "subtype", "person"}
)

// Page returns a list as a whole page.
func Page(l *List) []byte {
	d := newDocument(l.Title, l.Lang, l.Base, l.Self, l.Canonical)
	if l.Page > 1 {
		d.Title += " · " + d.language.page(l.Page, l.Pages)
	}
	d.List, d.Alternates, d.Languages = l, l.Exports, l.Languages
	d.NoIndex, d.AsOf = l.NoIndex, l.AsOf
	if linkable(l.Prev) {
		d.Prev = l.Prev
	}
	if linkable(l.Next) {
		d.Next = l.Next
	}
	d.TitleID, d.Action = listID(l)+titleID, d.Root+"/lists"
	if self, err := url.Parse(l.Self); err == nil {
		d.Action = self.EscapedPath()
	}
	d.Selects = []Facet{d.selectOf("sort", sorts, l.Sort), d.selectOf("group", groups, l.Group)}
	if l.Q != "" {
		d.Selects[0] = d.selectOf("sort", append([]string{"relevance"}, sorts...), l.Sort)
	}
	for _, f := range l.Facets {
		for _, v := range f.Values {
			if v.Active {
				d.Filters = append(d.Filters, Link{Href: v.Href, Label: d.facetLabel(f) + ": " + v.Label})
			}
		}
	}
	d.Facets, d.Body = template.HTML(d.facets(l)), template.HTML(body(l))
	return d.render("list")
}

// facets returns the facets of a list as menus. It does without templates: a list of an
// institute has hundreds of values, and templates would take longer than all else.
func (d *document) facets(l *List) []byte {
	f := fragment{t: d.language}
	for _, facet := range l.Facets {
		if len(facet.Values) == 0 {
			continue
		}
		f.dst = appendText(append(f.dst, `<details name="vl-filters"><summary>`...), d.facetLabel(facet))
		f.dst = append(f.dst, "</summary>\n<ul class=\"vl-chips\">\n"...)
		for _, v := range facet.Values {
			f.dst = append(f.dst, "<li><a"...)
			if linkable(v.Href) {
				f.href(v.Href)
				f.attribute("rel", "nofollow")
			}
			if v.Active {
				f.attribute("aria-current", "true")
			}
			f.dst = appendText(append(f.dst, '>'), v.Label)
			f.dst = append(append(f.dst, ` <span class="vl-n">`...), d.Number(v.Count)...)
			f.dst = append(f.dst, "</span></a></li>\n"...)
		}
		f.dst = append(f.dst, "</ul></details>\n"...)
	}
	return f.dst
}

// facetLabel returns the name of a facet for people.
func (d *document) facetLabel(f Facet) string {
	if f.Label != "" {
		return f.Label
	}
	return d.T(f.Name)
}
