package lists

import (
	"cmp"
	"context"
	"net/url"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/proxy/lists/page"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/lists/selection"
	"vitrine/proxy/lists/texts"
	"vitrine/proxy/response"
)

// document is the model for the formats of pages, an item as a list of one. page.List has what only HTML needs.
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
	if err = a.findTaken(ctx); err != nil {
		return nil, err
	}
	meta, head := a.snap.Meta(), a.lists.head(a.title, a.query.Text(params.Lang))
	// without what the element leaves out: ids begin with it
	head.Base, head.Self = a.links.Base, a.url("", a.asked.With(params.JSONLD).With(params.Title))
	head.Canonical, head.AsOf = a.canonicalURL(), meta.Published
	head.OEmbed = a.links.Base + "/oembed?url=" + url.QueryEscape(a.url("", a.asked.Merge()))
	head.Embed, head.Theme = a.query.Flag(params.Embed), a.query.Text(params.Theme)
	d = &document{
		List: page.List{
			Head:    head,
			Notes:   a.notes(),
			Heading: a.query.Number(params.Heading), Untitled: !a.query.Flag(params.Title),
			Count: a.count, Entries: a.entries, Page: a.query.Number(params.Page), Pages: a.pages,
			Limit: a.query.Number(params.Limit),
			Q:     a.query.Text(params.And(params.Words)), Group: a.query.FormValue(params.Group),
			Sort: a.query.Text(params.Sort), Turns: a.turns(),
			Searched: len(a.query.Both(params.Words)) > 0, Chosen: len(a.query.Order()) > 0,
		},
		view: a.def.View, single: a.isItem(), page: a.url("", nil), feedID: a.path + "?" + a.asked.String(),
		files: map[string]string{},
		self:  link{a.url(a.format.suffix, a.asked), "self", a.format.media}, generation: meta.Generation,
		links:      a.links,
		linkedData: a.query.Flag(params.JSONLD),
	}
	for _, f := range formats {
		if f.label == "" || slices.Contains(a.taken, f.suffix) {
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
	if len(a.asked.Only(params.Narrowing()...)) > 0 {
		d.Reset = a.url("", a.asked.Reset())
	}
	for _, name := range a.asked.Names() {
		if !slices.Contains([]string{params.And(params.Words), params.Sort, params.Group, params.Page}, name) {
			d.Params = append(d.Params, page.Param{Name: name, Value: a.asked.FormValue(name)})
		}
	}
	var rows []bson.Raw
	for e, err := range a.rows.Entries(ctx) {
		if err != nil {
			return nil, err
		}
		d.items, rows = append(d.items, a.readItem(&item{}, e)), append(rows, e.Doc())
	}
	if err := a.relate(ctx, d.items...); err != nil {
		return nil, err
	}
	for i, it := range d.items {
		if err := a.complete(ctx, it, rows[i]); err != nil {
			return nil, err
		}
		if d.single {
			if err := a.resolveNotices(ctx, it); err != nil {
				return nil, err
			}
			d.memberOf = a.memberOf(rows[i])
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

// facets counts the facets of a document. On a page their values are links, unless they are the frame's.
func (a *answer) facets(ctx context.Context, d *document) (err error) {
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

// years counts the entries of all pages by year, in order. It leaves out entries without a year.
func (a *answer) years(ctx context.Context) (all []page.YearCount, err error) {
	counted, err := a.rows.Names(ctx, params.Year)
	for _, c := range counted {
		if year, _, ok := params.Years(c.Value); ok {
			all = append(all, page.YearCount{Year: year, Count: c.Count})
		}
	}
	slices.SortFunc(all, func(a, b page.YearCount) int { return cmp.Compare(a.Year, b.Year) })
	return all, err
}
