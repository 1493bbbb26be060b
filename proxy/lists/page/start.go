package page

import (
	_ "embed"
	"html"
	"strings"
)

// Index returns the index of lists. Of a head it needs no title.
func Index(h Head, sections []Section) []byte {
	d := newDocument(h)
	d.Title, d.Sections = d.T("lists"), sections
	return d.render("index")
}

// Start returns the start page: the index and the builder of snippets.
func Start(h Head, sections []Section) []byte {
	d := newDocument(h)
	d.Title, d.Sections = d.T("start"), sections
	d.Choices = []string{"year", "type", "subtype", "unit", "person", "project", "topic"}
	d.Selects = []Facet{d.selectOf("group", append([]string{""}, groups...), "")}
	if len(sections) > 0 && len(sections[0].Lists) > 0 {
		d.Snippets = snippets(h.Base, sections[0].Lists[0])
	}
	return d.render("start")
}

// snippet is a text that puts a list on a page.
type snippet struct {
	ID, Name string
	Form     string // the text with {page} and the like in it, for the builder
	Markup   bool   // it is HTML, in which values are escaped; only such a form has the title
	Text     string // for the first list
}

// forms has the forms of snippets, each under a line with its id and name.
//
//go:embed snippets.txt
var forms string

// snippets returns the snippets for a list.
func snippets(base string, list Entry) (all []snippet) {
	for _, part := range strings.Split("\n"+forms, "\n=== ")[1:] {
		head, form, _ := strings.Cut(part, "\n")
		id, name, _ := strings.Cut(head, " ")
		s := snippet{ID: id, Name: name, Form: strings.TrimSpace(form), Markup: strings.Contains(form, "{title}")}
		values := []string{"{page}", list.Href, "{html}", list.Href + ".html", "{bib}", list.Href + ".bib", "{path}", strings.TrimPrefix(list.Href, base) + ".html", "{title}", list.Title, "{base}", base}
		for i := 1; s.Markup && i < len(values); i += 2 {
			values[i] = html.EscapeString(values[i])
		}
		s.Text = strings.NewReplacer(values...).Replace(s.Form)
		all = append(all, s)
	}
	return all
}
