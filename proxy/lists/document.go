package lists

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view/index"
	"vitrine/proxy/lists/page"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/lists/selection"
	"vitrine/proxy/lists/texts"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/display"
	"vitrine/rules/filter"
	"vitrine/rules/mark"
	"vitrine/rules/raw"
)

// document is the model for the formats of pages, an item as a list of one. page.List has what only HTML needs. A
// document has everything that its format writes, so that the formats are functions of a document alone and cannot
// look at snapshots again.
type document struct {
	page.List
	view   string
	single bool   // the document is an item
	page   string // the address of the list or item, without parameters
	// the name from which the feed's id is made: path and parameters without the server's address, so that the id
	// survives a move of the server
	feedID string
	self   link              // the link to the document in its own format
	files  map[string]string // the addresses of the other formats, by suffix without the dot
	// of the snapshot of the view; only JSON shows it
	generation uint64
	links      Links
	facets     []selection.Facet
	items      []*item
	// requested ids that the list does not have; only JSON shows them
	missing    []string
	linkedData bool        // pages contain the block of JSON-LD
	memberOf   []page.Link // the lists that contain an item
	person     *item       // the person that the list is about; nil if there is none
}

// buildPage returns the build of a format that writes a document. Unlike exports, such a body is complete before it
// is sent: a page has at most params' limit of entries, and its head depends on them.
func buildPage(write func(*document) (*response.Body, error)) build {
	return func(ctx context.Context, a *answer) (*response.Body, error) {
		d, err := documentOf(ctx, a)
		if err != nil {
			return nil, err
		}
		return write(d)
	}
}

// documentOf reads the document of an answer: the entries of its page and, for formats with facets, the facets.
func documentOf(ctx context.Context, a *answer) (*document, error) {
	if err := a.findTaken(ctx); err != nil { // before the first address
		return nil, err
	}
	d := newDocument(a)
	d.addFormats(a)
	d.addForm(a)
	if err := d.readItems(ctx, a); err != nil {
		return nil, err
	}
	if err := d.findPerson(ctx, a); err != nil {
		return nil, err
	}
	if err := d.addPeopleOfUnit(ctx, a); err != nil {
		return nil, err
	}
	return d, d.count(ctx, a)
}

// newDocument returns the document of an answer without its entries, facets and links to other formats. It reads no
// rows.
func newDocument(a *answer) *document {
	meta := a.snap.Meta()
	d := &document{
		List: page.List{
			Head:    headOf(a),
			Notes:   a.notes(),
			Heading: a.query.Number(params.Heading), Untitled: !a.query.Flag(params.Title),
			Numbered: a.query.Flag(params.Numbered), Ends: !a.query.Flag(params.Pager),
			Count: a.count, Entries: a.entries, Page: a.query.Number(params.Page), Pages: a.pages,
			Limit: a.query.Number(params.Limit),
			Q:     a.query.Text(params.And(params.Words)), Group: a.query.FormValue(params.Group),
			Sort: a.query.Text(params.Sort), Turns: a.turns(),
			OfPersons: a.ofPersons(),
			Searched:  len(a.query.Both(params.Words)) > 0, Chosen: len(a.query.Order()) > 0,
		},
		view: a.def.View, single: a.isItem(), page: a.url("", nil), feedID: a.path + "?" + a.asked.String(),
		files: map[string]string{},
		self:  link{a.url(a.format.suffix, a.asked), "self", a.format.media}, generation: meta.Generation,
		links:      a.links,
		linkedData: a.query.Flag(params.JSONLD),
	}
	translate(&d.Head, a.links.Base+a.path, a.links.Base+a.canonical, a.asked)
	if d.single || a.def.PageURL != "" { // the canonical address has one language
		d.Alternates = nil
	}
	return d
}

// headOf returns the head of the pages of an answer, without links to other formats and languages.
func headOf(a *answer) page.Head {
	head := a.lists.head(a.title, a.query.Text(params.Lang))
	head.Base, head.Self = a.links.Base, a.self(a.asked[params.Page]...)
	head.Canonical, head.AsOf = a.canonicalURL(), a.snap.Meta().Published
	head.OEmbed = a.links.Base + "/oembed?url=" + url.QueryEscape(a.url("", a.asked.Merge()))
	head.Embed, head.Theme = a.query.Flag(params.Embed), a.query.Text(params.Theme)
	return head
}

// self returns the address of a page of the list, by its number if it is not the first, without what the element
// leaves out: ids begin with it.
func (a *answer) self(number ...string) string {
	return a.url("", a.asked.With(params.JSONLD).With(params.Title).With(params.Page, number...))
}

// addFormats adds the addresses of the list in the other formats, and the links to those with a label.
func (d *document) addFormats(a *answer) {
	for _, f := range formats {
		if f.label == "" {
			continue
		}
		if slices.Contains(a.taken, f.suffix) || a.ofPersons() && f.cites {
			d.Without = append(d.Without, f.suffix)
			continue
		}
		// The document's own format has a link for readers, but is no other format for programs, which have self.
		href := a.whole(f)
		if f.suffix != a.format.suffix {
			d.files[f.suffix[1:]] = href
		}
		if !(d.single && f.feed) {
			d.Exports = append(d.Exports, page.Link{Href: href, Label: f.label, Type: f.media})
		}
	}
}

// addForm adds what the form of the page sends beside its own fields, and the address that takes back all choices.
// Browsers drop the query of the address to which they send a form, so the frame and the look travel in hidden
// fields; the page number does not, because other words have other pages.
func (d *document) addForm(a *answer) {
	if len(a.asked.Only(params.Narrowing()...)) > 0 {
		d.Reset = a.url("", a.asked.Reset())
	}
	for _, name := range a.asked.Names() {
		if !slices.Contains([]string{params.And(params.Words), params.Sort, params.Group, params.Page}, name) {
			d.Params = append(d.Params, page.Param{Name: name, Value: a.asked.FormValue(name)})
		}
	}
}

// readItems reads the entries of the page: first all rows, then what other records say about all items, and last
// what each item shows, which depends on both.
func (d *document) readItems(ctx context.Context, a *answer) error {
	var rows []bson.Raw
	for e, err := range a.rows.Entries(ctx) {
		if err != nil {
			return err
		}
		d.items, rows = append(d.items, a.readItem(&item{}, e)), append(rows, e.Doc())
	}
	if err := a.relate(ctx, d.items...); err != nil {
		return err
	}
	for i, it := range d.items {
		if err := a.complete(ctx, it, rows[i]); err != nil {
			return err
		}
		if d.single {
			if err := a.resolveNotices(ctx, it); err != nil {
				return err
			}
			d.memberOf = d.containing(rows[i])
		}
	}
	var err error
	d.OwnNumbers, err = addStyled(ctx, a, d.items, rows)
	return err
}

// count counts what the format shows of the whole list beside the entries: facets, years and missing ids.
func (d *document) count(ctx context.Context, a *answer) (err error) {
	if a.format.suffix == ".json" || a.format.suffix == "" && !d.single {
		err = d.readFacets(ctx, a)
	}
	if chart := a.query.Text(params.Chart); err == nil && chart != "0" {
		d.OpenAccess = chart == params.OA
		d.Years, err = yearsOf(ctx, a.rows, d.OpenAccess)
	}
	if err == nil && a.query.Flag(params.Jump) {
		err = d.addJumps(ctx, a)
	}
	if a.format.suffix == ".json" && err == nil {
		d.missing, err = a.rows.Missing(ctx)
	}
	return err
}

// addJumps adds links to the groups of the list, on whatever page they begin.
func (d *document) addJumps(ctx context.Context, a *answer) error {
	starts, err := selection.Starts(ctx, a.rows)
	for _, start := range starts {
		n := (start.Position-1)/max(d.Limit, 1) + 1
		jump := page.Jump{Value: start.Value, Label: start.Label, Page: n}
		if n != d.Page {
			jump.Href, jump.Self = a.turn(n), a.self(strconv.Itoa(n))
		}
		d.Jumps = append(d.Jumps, jump)
	}
	return err
}

// containing returns the lists that contain an item: the list of its view, and the lists about the subjects in its
// mark. Subjects whose id cannot be in a path have no list.
func (d *document) containing(row bson.Raw) []page.Link {
	all := []page.Link{{Href: d.links.Base + "/lists/" + d.view, Label: texts.In(d.Lang).T(d.view)}}
	for _, s := range subjects {
		for one := range mark.Entries(mark.Of(row), s.name+"s") {
			if id := raw.StringField(one, "id"); segment(id) != "" {
				all = append(all,
					page.Link{Href: d.links.toList(s.name, id), Label: cmp.Or(selection.NameOf(one, d.Lang), id)})
			}
		}
	}
	return all
}

// readFacets counts the facets. On a page their values are links, unless they are the frame's.
func (d *document) readFacets(ctx context.Context, a *answer) (err error) {
	isPage := a.format.suffix == ""
	d.facets, err = a.rows.Facets(ctx, isPage)
	if !isPage {
		return err
	}
	for _, f := range d.facets {
		shown := page.Facet{Name: f.Name}
		for _, v := range f.Values {
			one := page.FacetValue{Value: v.Value, Label: v.Label, Count: v.Count, Active: v.Active}
			if !v.Fixed {
				one.Href = a.url("", a.asked.Toggle(params.And(f.Name), v.Value))
			}
			shown.Values = append(shown.Values, one)
		}
		d.Facets = append(d.Facets, shown)
	}
	// Others are filters that no facet shows, and must be visible: the words of the frame, and exclusions. Only
	// what the reader has excluded can be taken back.
	t := texts.In(a.query.Text(params.Lang))
	if words := a.asked.Text(params.Words); words != "" {
		d.Others = append(d.Others, page.Link{Label: t.T("search") + ": " + words})
	}
	for _, name := range params.Filters() {
		not := params.Not(name)
		for i, value := range a.asked.Both(not) {
			one := page.Link{Label: t.T(name) + ": " + t.T("without") + " " + a.rows.Label(name, value, nil)}
			if i >= len(a.asked[not]) {
				one.Href = a.url("", a.asked.Toggle(params.And(not), value))
			}
			d.Others = append(d.Others, one)
		}
	}
	return err
}

// yearsOf counts the entries of all pages by year, in order and with the empty years between. If open is set, it
// also counts those that are open access. It leaves out entries without a year.
func yearsOf(ctx context.Context, rows *selection.Matches, open bool) (all []page.YearCount, err error) {
	counted, err := rows.Names(ctx, params.Year)
	if err != nil {
		return nil, err
	}
	accessible := map[string]int{}
	if open {
		if accessible, err = selection.Accessible(ctx, rows); err != nil {
			return nil, err
		}
	}
	for _, c := range counted {
		if year, _, ok := params.Years(c.Value); ok {
			one := page.YearCount{Year: year, Count: c.Count}
			if open {
				n := accessible[c.Value]
				one.Open = &n
			}
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b page.YearCount) int { return cmp.Compare(a.Year, b.Year) })
	return page.FillYears(all, open), nil
}

// findPerson adds the person that the list is about: pages show a card, and JSON has the data. It adds none for a
// person without a record, who is only known from activities.
func (d *document) findPerson(ctx context.Context, a *answer) error {
	isPage := a.format.suffix == "" && !a.query.Flag(params.Embed)
	if !a.isOfPerson() || !isPage && a.format.suffix != ".json" {
		return nil
	}
	snap, err := a.snaps.Of(rules.ViewPersons)
	if err != nil {
		return err
	}
	row, err := snap.First(ctx, filter.And(a.lists.public, a.about.among(a.rows.ID)))
	if row == nil || err != nil {
		return err
	}
	it := &item{}
	a.lists.o.Cite.View(rules.ViewPersons).Read(row, &it.Item)
	showPerson(a, it)
	it.href = a.links.ToPerson(it.User)
	d.person = it
	model := it.model()
	d.Person = &model
	return nil
}

// addPeopleOfUnit adds to the list about a unit a link to the list of its people, if there are any. That list
// includes the people of the units below if the request does, or if the unit itself has none.
func (d *document) addPeopleOfUnit(ctx context.Context, a *answer) error {
	if a.about.name != params.Unit || a.format.suffix != "" && a.format.suffix != ".json" {
		return nil
	}
	own, err := unitsWithPeople(ctx, a)
	if err != nil {
		return err
	}
	itself, found := (*own)[a.rows.ID]
	if !found {
		return nil
	}
	q := params.Query{}.With(params.Unit, a.rows.ID)
	if !itself || a.query.Flag(params.Deep) {
		q = q.With(params.Deep, "1")
	}
	d.Related = []page.Link{{
		Href:  address(a.links.Base+"/lists/"+rules.ViewPersons, q.Over(a.asked.Only(params.Lang))),
		Label: texts.In(a.query.Text(params.Lang)).T(rules.ViewPersons),
	}}
	return nil
}

// unitsWithPeople returns the ids of the units that have people, and whether these are the unit's own and not only
// those of units below. It reads them once for each snapshot, by one query: a query for each new list would make
// the list a third slower in the store.
func unitsWithPeople(ctx context.Context, a *answer) (*map[string]bool, error) {
	snap, err := a.snaps.Of(rules.ViewPersons)
	if err != nil {
		return nil, err
	}
	return a.lists.peopled.Of(ctx, snap, params.Unit, func() (*map[string]bool, error) {
		selected, err := snap.SelectUncounted(ctx, filter.And(a.lists.public, peopleOf(a.lists).rows.Where))
		if err != nil {
			return nil, err
		}
		found, err := selected.Facets(ctx, index.FacetsAt(mark.In, mark.Unit), mark.In, mark.Unit)
		own := map[string]bool{}
		for i, groups := range found {
			for _, group := range groups {
				// A clone, because the table outlives the rows that were read.
				own[strings.Clone(display.Text(group.Value))] = i == 1
			}
		}
		return &own, err
	})
}
