package page

import (
	"cmp"
	"embed"
	"html"
	"html/template"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"vitrine/proxy/lists/element"
	"vitrine/proxy/lists/texts"
	"vitrine/rules/markup"
)

// Policy returns the Content-Security-Policy of all pages of this package; logo is the address of Site.Logo, and
// figures are the services that visitors may have asked. It
// allows all sites to embed them, because they are also made for iframes. Everything that it does not name is
// refused, inline script and style among it. Pages with photos show them from any server: their addresses are in
// records.
func Policy(logo string, photos bool, figures ...string) string {
	if u, err := url.Parse(logo); err == nil && u.Host != "" {
		logo = " " + u.Scheme + "://" + u.Host
	}
	if photos {
		logo += " https: http:"
	}
	connected := ""
	for _, name := range figures {
		connected += " " + services[name].server
	}
	return "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'" + connected +
		"; img-src 'self' data:" + logo + "; base-uri 'none'; form-action 'self'"
}

//go:embed templates
var embedded embed.FS

// templates are parsed by the first page. A mistake in them is a panic, which any test of a page finds.
var templates = sync.OnceValue(func() *template.Template {
	funcs := template.FuncMap{
		"file":     func(name string) string { return element.Current(name).Path },
		"linkable": markup.IsLink,
		"langOf":   LangOf,
		"words":    strings.Fields,
	}
	return template.Must(template.New("").Funcs(funcs).ParseFS(embedded, "templates/*.tmpl"))
})

// pageData is what the templates of pages read: the head, the texts of its language, and the parts of each page.
// What is template.HTML was written by a fragment or cleaned by rules/markup; the templates escape the rest.
type pageData struct {
	Head
	texts.Language
	Root string        // the beginning of paths on this server
	Body template.HTML // a fragment

	// Only some pages have these:
	List       *List
	TitleID    string
	Action     string
	Filters    []Link
	Facets     template.HTML // menus
	Card       template.HTML // of the person whose list it is
	Record     *Record
	Heading    template.HTML // of the record
	Paragraphs []template.HTML
	Overview   template.HTML // sections
	Sections   []Section
	Empty      bool // no list has entries
	Q          string
	Snippets   []snippet
	Contents   step // what is in a list
	Looks      step // how it looks
	Text       string
	Status     int
}

// newDocument returns what all pages need. Lang becomes the language of our texts, whatever the request wrote.
func newDocument(h Head) *pageData {
	d := &pageData{Head: h, Language: texts.In(h.Lang), Root: strings.TrimRight(pathOf(h.Base), "/")}
	d.Lang, d.Canonical = d.Code(), cmp.Or(h.Canonical, h.Self)
	return d
}

// pathOf returns the path of an address, or "", because the policy allows only the host that sent the page.
func pathOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.EscapedPath()
}

// render writes a page by a template, without control characters, which html/template keeps.
func (d *pageData) render(name string) []byte {
	var b strings.Builder
	if err := templates().ExecuteTemplate(&b, name, d); err != nil {
		panic("page: " + err.Error()) // a mistake in a template
	}
	// HTML does not allow them, and a validator would reject the page.
	return []byte(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, b.String()))
}

// Groupings returns the values of group that the form of a list offers: the usual ones and that of the list.
func (d *pageData) Groupings() []string {
	// An editor's own choice is added to the usual ones, so that the form does not lose it.
	usual := strings.Fields("none year type subtype unit person project keyword year,type type,year")
	if d.List.OfPersons {
		usual = slices.Clone(forPersons["group"])
	}
	if d.List.Group == "" || slices.Contains(usual, d.List.Group) {
		return usual
	}
	return append(usual, d.List.Group)
}

// Sorts returns the values of sort that the form of a list offers.
func (d *pageData) Sorts() []string {
	if d.List.OfPersons {
		return forPersons["sort"]
	}
	return strings.Fields("-year year title type author -added")
}

// Sorting returns the name of a value of sort.
func (d *pageData) Sorting(value string) string {
	if d.List.OfPersons {
		return d.sortOfPersons(value)
	}
	return d.T("sort-" + value)
}

// sortOfPersons returns the name of a value of sort in lists of persons, who have names and no authors.
func (d *pageData) sortOfPersons(value string) string {
	return d.T("sort-" + strings.Replace(value, "author", "name", 1))
}

// Grouping returns the name of a value of group.
func (d *pageData) Grouping(value string) string {
	// A list may be divided twice: "year,type" is named by both.
	names := strings.Split(value, ",")
	for i, name := range names {
		names[i] = d.T("group-" + name)
	}
	return strings.Join(names, ", ")
}

// Page returns a list as a whole page.
func Page(l *List) []byte {
	d := newDocument(l.Head)
	d.List, d.TitleID, d.Action = l, listID(l)+titleID, cmp.Or(pathOf(l.Self), d.Root+"/lists")
	for _, f := range l.Facets {
		for _, v := range f.Values {
			if v.Active {
				d.Filters = append(d.Filters, Link{Href: v.Href, Label: d.T(f.Name) + ": " + v.Label})
			}
		}
	}
	// Filters without a facet come after those that a menu shows as well.
	d.Filters = append(d.Filters, l.Others...)
	if p := l.Person; p != nil {
		f := fragment{t: d.Language}
		f.card(p.Person, "", p.Units) // the name is the title
		d.Card = template.HTML(f.html.String())
	}
	// The title of the list is the h1 of the page.
	d.Facets, d.Body = template.HTML(menus(l)), template.HTML(section(l, 1, true))
	return d.render("list")
}

// Single returns the page of an item.
func Single(r *Record) []byte {
	d := newDocument(r.Head)
	d.Record, d.Heading = r, template.HTML(cmp.Or(r.Heading, html.EscapeString(r.Title)))
	// A copy, because functions do not change their model.
	bare := *r
	bare.Item.Href, bare.Item.Abstract, bare.Item.BibTeX = "", nil, "" // this page, and its own sections
	d.Body = template.HTML(article(&bare, true))
	for _, paragraph := range r.Abstract {
		d.Paragraphs = append(d.Paragraphs, template.HTML(paragraph))
	}
	return d.render("item")
}

// Index returns the index of lists, or of those that a search for words found. The head needs no title. Long
// sections are folded by letters.
func Index(h Head, words string, sections []Section) []byte {
	d := newDocument(h)
	d.Title, d.Description, d.Q = d.T("lists"), d.T("about"), words
	d.Overview = template.HTML(d.overview(sections, mostOpen, ""))
	return d.render("index")
}

// Start returns the start page: the builder of snippets, with fields for the parameters of lists, and the index.
func Start(h Head, sections []Section, fields []Field) []byte {
	d := newDocument(h)
	d.Title, d.Description, d.Sections = d.T("start"), d.T("about"), sections
	d.Empty = !slices.ContainsFunc(sections, func(s Section) bool {
		return slices.ContainsFunc(s.Lists, func(l ListEntry) bool { return l.Count > 0 })
	})
	// Long sections are links to the index, so that the start page stays short.
	d.Overview = template.HTML(d.overview(sections, mostAtStart, d.Root+"/lists?lang="+d.Lang))
	// Without any list there is nothing to embed, and the builder is left out.
	if len(sections) > 0 && len(sections[0].Lists) > 0 {
		d.Snippets = snippets(h.Base, sections[0].Lists[0])
		d.fields(fields)
	}
	return d.render("start")
}

// Failure returns the page for an error. Of the head it needs the title, Lang and Base; text is plain text.
func Failure(status int, h Head, text string) []byte {
	d := newDocument(h)
	// text is escaped by the template.
	d.Text, d.Status = text, status
	return d.render("failure")
}

// snippet is a text with which people put a list on a page.
type snippet struct {
	ID, Name string
	// the text with placeholders such as {page}; {path} has no $, which server-side includes would read as a variable
	Form   string
	Markup bool   // the text is HTML, in which values are escaped; only such a form has the title
	Text   string // the text for the first list
}

// forms has the forms of snippets, each under a line with its id and name.
//
//go:embed snippets.txt
var forms string

// noHeading matches the line of a snippet for a heading, which has the title that an editor types.
var noHeading = regexp.MustCompile(`(?m)^.*\{heading\}\n`)

// unknownBase stands for this server's address if it is not configured; the builder's script inserts the real one.
const unknownBase = "https://ADDRESS-OF-THIS-SERVER"

// snippets returns the snippets for a list. The page's script makes them anew from Form when an editor chooses
// another list.
func snippets(base string, list ListEntry) (all []snippet) {
	href, path := list.Href, strings.TrimPrefix(list.Href, base)
	// The address in the request is no substitute: a cache would send the page with it to others.
	if base == "" {
		base, href = unknownBase, unknownBase+path
	}
	for _, part := range strings.Split("\n"+forms, "\n=== ")[1:] {
		head, form, _ := strings.Cut(part, "\n")
		// "=== html HTML" has an id and a name.
		id, name, _ := strings.Cut(head, " ")
		s := snippet{ID: id, Name: name, Form: strings.TrimSpace(form), Markup: strings.Contains(form, "{title}")}
		u, _ := url.Parse(base) // of the configuration, which package configs checks
		values := []string{"{page}", href, "{frame}", href + "?embed=1", "{key}", hash(path + ".html"), "{html}",
			href + ".html", "{bib}", href + ".bib", "{path}", strings.ReplaceAll(path, "$", "%24") + ".html",
			"{title}", list.Title, "{base}", base,
			"{edit}", base + "/#list=" + url.QueryEscape(strings.TrimPrefix(path, "/lists/")),
			"{host}", u.Hostname(), "{authority}", u.Host, "{port}", cmp.Or(u.Port(), "80"), "{root}",
			u.EscapedPath(), "{attributes}", attribute("facets", "year type") + " search"}
		// Every second element is a value; the placeholders before them stay.
		for i := 1; s.Markup && i < len(values); i += 2 {
			if values[i-1] != "{attributes}" {
				values[i] = html.EscapeString(values[i])
			}
		}
		s.Text = noHeading.ReplaceAllString(s.Form, "")
		s.Text = strings.NewReplacer(values...).Replace(s.Text)
		all = append(all, s)
	}
	return all
}
