package page

import (
	"cmp"
	"html/template"
	"net/url"

	"vitrine/proxy/lists/texts"
)

// sorts and groups are what the form of a list offers.
var (
	sorts  = []string{"-year", "year", "title", "type", "author"}
	groups = []string{"none", "year", "type", "subtype", "person"}
)

// Page returns a list as a whole page.
func Page(l *List) []byte {
	d := newDocument(l.Head)
	if l.Page > 1 {
		d.Title += " · " + d.Page(l.Page, l.Pages)
	}
	d.List = l
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
				d.Filters = append(d.Filters, Link{Href: v.Href, Label: f.label(d.Language) + ": " + v.Label})
			}
		}
	}
	menus := fragment{l: l, t: d.Language}
	menus.facets()
	d.Facets, d.Body = template.HTML(menus.String()), template.HTML(body(l))
	return d.render("list")
}

// label returns the name of a facet for people.
func (f Facet) label(in texts.Language) string { return cmp.Or(f.Label, in.T(f.Name)) }
