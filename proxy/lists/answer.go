package lists

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/proxy/lists/page"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/lists/selection"
	"vitrine/proxy/lists/texts"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/cite"
	"vitrine/rules/display"
	"vitrine/rules/filter"
	"vitrine/rules/mark"
	"vitrine/rules/markup"
	"vitrine/rules/raw"
)

// answer reads the rows of a listing in a snapshot. Only one goroutine may use it.
type answer struct {
	*listing
	snap      *view.Snapshot
	rows      *selection.Matches
	mapping   *cite.Mapping // the mapping of the view
	query     params.Query  // all effective parameters
	title     string
	canonical string // the path for search engines
	count     int    // number of records
	entries   int    // number of entries: a record has one in each of its groups
	pages     int
}

// build makes the body of an answer.
type build = func(context.Context, *answer) (*response.Body, error)

// on returns the answer of a listing in a snapshot.
func (l *listing) on(ctx context.Context, snap *view.Snapshot) (*answer, error) {
	a := &answer{
		listing: l, snap: snap, rows: l.rows.On(snap), mapping: l.lists.o.Cite.View(l.def.View), query: l.rows.Query, canonical: l.path,
	}
	err := a.name(ctx)
	if err == nil {
		a.count, a.entries, a.pages, err = a.rows.Size(ctx)
	}
	return a, err
}

// name sets the title and the canonical path. The title of a list about a subject comes from the mark of a public
// record that names the subject, in the list's own view or another one. Without such a record the list does not exist.
func (a *answer) name(ctx context.Context) (err error) {
	lang := a.query.Text(params.Lang)
	switch {
	case a.isItem():
		for e, err := range a.rows.Entries(ctx) {
			if err == nil {
				a.title = a.read(&item{}, e).title()
			}
			return err
		}
		return errNoItem
	case a.about.name == "" && a.def.Title == nil:
		a.title = texts.In(lang).T(a.def.View)
		return nil
	case a.about.name == "":
		a.title = cmp.Or(a.def.Title[lang], a.def.Title["en"], a.path)
		return nil
	}
	var anywhere []*filter.Filter
	for _, path := range a.about.paths {
		anywhere = append(anywhere, filter.OneOf(path, a.rows.ID))
	}
	named := filter.And(a.lists.public, filter.Or(anywhere...))
	row, err := a.snap.First(ctx, named)
	for i := 0; row == nil && err == nil && i < len(a.about.also); i++ {
		var snap *view.Snapshot
		if snap, err = a.lists.shared.Views.Snapshot(a.about.also[i]); err == nil {
			row, err = snap.First(ctx, named)
		}
	}
	if row == nil {
		return cmp.Or(err, notFound("No public record knows "+markup.PathSegment(a.rows.ID)+cmp.Or(a.near(ctx), ".")))
	}
	one := selection.Known(mark.Of(row), a.about.name, a.rows.ID)
	if id := raw.StringField(one, "id"); id != "" {
		a.canonical = listPath(a.about.name, id) // a person's list may also be requested by ORCID
	}
	a.title = cmp.Or(selection.NameOf(one, lang), a.rows.ID)
	return nil
}

// mostCompared bounds the ids that an unknown one is compared with, because the comparison does not yield its turn.
const mostCompared = 10_000

// near suggests the subject whose id is nearest to an unknown one, if the rows are in memory.
func (a *answer) near(ctx context.Context) string {
	if _, resident := a.snap.Resident(); !resident {
		return ""
	}
	all := a.lists.newListing(a.def)
	known, err := all.rows.On(a.snap).Names(ctx, a.about.name)
	var ids []string
	for _, one := range known {
		ids = append(ids, one.Value)
	}
	if err != nil || len(ids) > mostCompared {
		return "" // a suggestion is not worth another error
	}
	return params.DidYouMean(a.rows.ID, ids)
}

// document is the model for the formats of pages: a list, or an item as a list of one. The parts that only HTML has are
// those of page.List.
type document struct {
	page.List
	view       string
	single     bool              // the document is an item
	page       string            // the address of the list or item, without parameters
	feedID     string            // the name from which the feed's id is made
	self       link              // the link to the document in its own format
	files      map[string]string // the addresses of the other formats, by suffix without the dot
	generation uint64
	links      Links
	facets     []selection.Facet
	items      []*item
	missing    []string    // requested ids that the list does not have
	linkedData bool        // pages contain the block of JSON-LD
	memberOf   []page.Link // the lists that contain an item
}

// buildPage returns a function that builds the body of a format that shows one page of a list.
func buildPage(write func(*document) (*response.Body, error)) build {
	return func(ctx context.Context, a *answer) (*response.Body, error) {
		d, err := a.document(ctx)
		if err != nil {
			return nil, err
		}
		return write(d)
	}
}

// document reads the entries of a page and, for formats with facets, the facets.
func (a *answer) document(ctx context.Context) (d *document, err error) {
	meta, head := a.snap.Meta(), a.lists.head(a.title, a.query.Text(params.Lang))
	head.Base, head.Self = a.links.Base, a.url("", a.asked.With(params.JSONLD).With(params.Title)) // without what the element leaves out: ids begin with it
	head.Canonical, head.AsOf = a.canonicalURL(), meta.Published
	head.OEmbed = a.links.Base + "/oembed?url=" + url.QueryEscape(head.Self)
	head.Embed, head.Theme = a.query.Flag(params.Embed), a.query.Text(params.Theme)
	d = &document{
		List: page.List{
			Head:    head,
			Heading: a.query.Number(params.Heading), Untitled: !a.query.Flag(params.Title),
			Count: a.count, Entries: a.entries, Page: a.query.Number(params.Page), Pages: a.pages, Limit: a.query.Number(params.Limit),
			Q: a.query.Text(params.Words), Group: a.query.FormValue(params.Group), Sort: a.query.Text(params.Sort), Turns: a.turns(),
		},
		view: a.def.View, single: a.isItem(), page: a.url("", nil), feedID: a.path + "?" + a.asked.String(), files: map[string]string{},
		self: link{a.url(a.format.suffix, a.asked), "self", a.format.media}, generation: meta.Generation, links: a.links,
		linkedData: a.query.Flag(params.JSONLD),
	}
	for _, f := range formats {
		if f.label == "" {
			continue
		}
		href := a.whole(f)
		if f.suffix != a.format.suffix {
			d.files[f.suffix[1:]] = href
		}
		if !(d.single && f.feed) {
			d.Exports = append(d.Exports, page.Link{Href: href, Label: f.label, Type: f.media})
		}
	}
	a.lists.translate(&d.Head, a.links.Base+a.path, a.links.Base+a.canonical, a.asked)
	if d.single || a.def.PageURL != "" { // the canonical address has one language
		d.Alternates = nil
	}
	if narrowed := a.asked.Only(filterParams...).With(params.Deep); len(narrowed) > 0 {
		d.Reset = a.url("", a.asked.Beyond(narrowed).With(params.Page).With(params.Deep))
	}
	for _, name := range a.asked.Names() {
		if !slices.Contains([]string{params.Words, params.Sort, params.Group, params.Page}, name) {
			d.Params = append(d.Params, page.Param{Name: name, Value: a.asked.FormValue(name)})
		}
	}
	for e, err := range a.rows.Entries(ctx) {
		if err != nil {
			return nil, err
		}
		it := a.read(&item{}, e)
		if err := a.complete(ctx, it, e.Doc()); err != nil {
			return nil, err
		}
		if d.items = append(d.items, it); d.single {
			d.memberOf = a.memberOf(e.Doc())
		}
	}
	if a.format.suffix == ".json" || a.format.suffix == "" && !d.single {
		err = a.facets(ctx, d)
	}
	if err == nil && a.query.Flag(params.Chart) {
		d.Years, err = a.years(ctx)
	}
	if a.format.suffix == ".json" && err == nil {
		d.missing, err = a.rows.Missing(ctx)
	}
	return d, err
}

// facets counts the facets of a document. On a page their values are links.
func (a *answer) facets(ctx context.Context, d *document) (err error) {
	isPage := a.format.suffix == ""
	d.facets, err = a.rows.Facets(ctx, isPage)
	for _, f := range d.facets {
		if !isPage {
			break
		}
		shown := page.Facet{Name: f.Name}
		for _, v := range f.Values {
			href := a.url("", a.asked.Toggle(f.Name, v.Value))
			shown.Values = append(shown.Values, page.FacetValue{Value: v.Value, Label: v.Label, Count: v.Count, Href: href, Active: v.Active})
		}
		d.Facets = append(d.Facets, shown)
	}
	t := texts.In(a.query.Text(params.Lang))
	for _, name := range params.Filters() {
		not := params.Not(name)
		for _, value := range a.asked[not] {
			label := t.T(name) + ": " + t.T("without") + " " + a.rows.Label(name, value, nil)
			d.Excluded = append(d.Excluded, page.Link{Href: a.url("", a.asked.Toggle(not, value)), Label: label})
		}
	}
	return err
}

// turns returns the addresses of the first, previous, next and last page, as far as they exist. In a fragment they are
// addresses of pages.
func (a *answer) turns() map[string]string {
	suffix := strings.TrimSuffix(a.format.suffix, ".html")
	address := func(n int) string { return a.url(suffix, a.asked.With(params.Page, strconv.Itoa(n))) }
	if suffix != a.format.suffix && a.def.PageURL != "" {
		address = a.sitePage
	}
	n, all := a.query.Number(params.Page), map[string]string{}
	if n > 1 {
		all["first"], all["prev"] = address(1), address(min(n-1, a.pages))
	}
	if n < a.pages {
		all["next"], all["last"] = address(n+1), address(a.pages)
	}
	return all
}

// canonicalURL returns the address of the list for search engines: the page on the site that shows the list, if there
// is one.
func (a *answer) canonicalURL() string {
	if a.def.PageURL != "" {
		return a.sitePage(a.query.Number(params.Page))
	}
	return address(a.links.Base+a.canonical, a.asked.Entries())
}

// memberOf returns the lists that contain an item: the list of its view, and the lists about the subjects in its mark.
func (a *answer) memberOf(row bson.Raw) []page.Link {
	lang := a.query.Text(params.Lang)
	all := []page.Link{{Href: a.links.Base + "/lists/" + a.def.View, Label: texts.In(lang).T(a.def.View)}}
	for _, s := range subjects {
		for one := range mark.Entries(mark.Of(row), s.name+"s") {
			if id := raw.StringField(one, "id"); segment(id) != "" {
				all = append(all, page.Link{Href: a.links.toList(s.name, id), Label: cmp.Or(selection.NameOf(one, lang), id)})
			}
		}
	}
	return all
}

// item is an entry of a list, read as a bibliographic item.
type item struct {
	cite.Item
	groups        []page.Group
	position      int
	year          string // as text; empty if there is none
	kind, subkind string // labels of the type and the subtype
	page          string // the address of the item's page; empty if it has none

	// Only formats of pages have these:
	html             string // the item's citation
	href             string // the target of the link on its title; empty if there is none
	authors          []page.Author
	shown            []string // values of params.Show
	extras           page.Extras
	created, updated time.Time // for feeds; updated is zero if the item has not changed
}

// title returns the title of an item as plain text, or else its name or id.
func (it *item) title() string { return cmp.Or(it.Text, it.Name, it.ID) }

// period returns the date of an item, or its first and last day.
func (it *item) period() string {
	if it.End.Year == 0 || it.End == it.Date {
		return it.Date.String()
	}
	return it.Date.String() + " – " + it.End.String()
}

// read reads an entry into an item and returns it.
func (a *answer) read(it *item, e selection.Entry) *item {
	row := e.Doc()
	a.mapping.Read(row, &it.Item)
	it.groups, it.position, it.year, it.page = a.groups(e), e.Position, "", ""
	it.kind, it.subkind = a.rows.Label(params.Type, it.Type, row), a.rows.Label(params.Subtype, it.Subtype, row)
	if year, ok := mark.Of(row).Lookup("year").Int32OK(); ok {
		it.year = strconv.Itoa(int(year))
	}
	if a.def.View != rules.ViewPersons && segment(it.ID) != "" {
		it.page = a.links.ItemPage(it.ID)
	}
	return it
}

// groups returns the groups that contain an entry.
func (a *answer) groups(e selection.Entry) (all []page.Group) {
	for _, g := range e.Groups {
		if !a.query.Flag(params.Counts) {
			g.Count = 0
		}
		all = append(all, page.Group(g))
	}
	return all
}

// complete adds to an item what only the formats of pages show.
func (a *answer) complete(ctx context.Context, it *item, row bson.Raw) (err error) {
	var users []string // usernames of public persons
	for one := range mark.Entries(mark.Of(row), "persons") {
		users = append(users, raw.StringField(one, "id"))
	}
	switch a.def.View {
	case rules.ViewPersons:
		it.href = a.links.ToPerson(cmp.Or(users...))
	case rules.ViewProjects:
		it.href = a.links.ToProject(it.Name)
	default:
		it.href = a.links.ToItem(&it.Item)
	}
	it.authors = []page.Author{}
	for _, p := range it.Authors {
		it.authors = append(it.authors, page.Author{Name: p.Inverted(), ID: p.User, ORCID: p.ORCID, Href: a.links.ToPerson(p.User)})
	}
	a.show(it, row)
	it.created, it.updated = times(it, row, a.snap.Meta().Published.In(a.lists.shared.Now().Location()).Truncate(time.Second))
	stored := display.Text(row.Lookup("rendered", a.query.Text(params.Style)))
	if a.def.View != rules.ViewActivities || stored == "" {
		it.html = a.compose(it)
		return nil
	}
	it.html = markup.Relink(stored, func(kind markup.LinkKind, id string) string {
		switch {
		case kind == markup.LinkActivity && id == it.ID:
			return a.links.ToItem(&it.Item)
		case kind == markup.LinkActivity:
			found, failed := a.snap.First(ctx, filter.And(a.lists.public, selection.IDs(id)))
			if err = cmp.Or(err, failed); found != nil {
				return a.links.ToItem(&cite.Item{ID: id})
			}
		case slices.Contains(users, id):
			return a.links.ToPerson(id)
		}
		return ""
	})
	if a.query.Text(params.Style) == "web" {
		it.html = it.withExtent(it.html)
	}
	it.html = a.bylines().in(it.html, &it.Item)
	return err
}

// bylines says how the citations of the answer show persons.
func (a *answer) bylines() bylines {
	b := bylines{texts.In(a.query.Text(params.Lang)), a.query[params.Person], a.query.Number(params.Authors), a.mapping.LastAuthor, a.format.feed}
	if b.cut { // feed readers have neither the style that folds persons nor the one that marks them
		b.own = nil
	} else if a.about.name == params.Person {
		b.own = append([]string{a.rows.ID}, b.own...)
	}
	return b
}

// compose returns the HTML of an item without a stored citation: its title, event, place, publisher and dates.
func (a *answer) compose(it *item) string {
	html := cmp.Or(it.Title, markup.Escape(it.Name))
	if it.href != "" && a.query.Text(params.Style) != "print" {
		html = `<a href="` + markup.Escape(it.href) + `">` + html + `</a>`
	}
	for _, more := range []string{it.Event, it.Place, it.Publisher, it.period()} {
		if more != "" {
			html += ", " + markup.Escape(more)
		}
	}
	return html
}
