package lists

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/proxy/lists/page"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/lists/selection"
	"vitrine/proxy/lists/texts"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/cite"
	"vitrine/rules/mark"
	"vitrine/rules/markup"
	"vitrine/rules/raw"
)

// Request is a call, copied out of the server's buffers.
type Request struct {
	Path   string // as sent, with its escapes
	Args   iter.Seq2[[]byte, []byte]
	Accept string // which of Offers the client prefers; empty: none
	Base   string // what absolute URLs begin with, see Lists.Base; empty: nothing may be that
}

// Plan returns the plan of a request's answer.
func (l *Lists) Plan(ctx context.Context, r Request) (p response.Plan, err error) {
	parts, f, err := partsOf(r.Path)
	switch {
	case err != nil:
		return p, err
	case parts[0] == "oembed":
		return l.oEmbed(ctx, r)
	case parts[0] == "sitemap.xml":
		return l.sitemap(r)
	}
	q, err := params.Parse(r.Args)
	if err != nil {
		return p, err
	}
	if f.suffix != "" {
		p, err = l.plan(ctx, r.Base, parts, f, q)
		if parts[0] != "items" || !errors.Is(err, rules.ErrNotFound) {
			return p, err
		}
		parts[len(parts)-1] += f.suffix // it may belong to the id
	}
	p, err = l.plan(ctx, r.Base, parts, negotiated(r.Accept), q)
	p.Negotiated = "Accept"
	return p, err
}

// partsOf returns the decoded parts of a path, at least one, and the face that its suffix
// names. A slash at its end does not count.
func partsOf(path string) (parts []string, f face, err error) {
	path, f = split(strings.TrimPrefix(strings.TrimSuffix(path, "/"), "/"))
	parts = strings.Split(path, "/")
	for i, part := range parts {
		if parts[i], err = url.PathUnescape(part); err != nil || !utf8.ValidString(parts[i]) {
			return nil, f, notFound("The path cannot be read.")
		}
	}
	return parts, f, nil
}

// listing is a list as a request asks for it. It is immutable.
type listing struct {
	*list
	lists *Lists
	face  face
	links cite.Links         // those of the list, on the address that the request was sent to
	rows  selection.Question // with all parameters, those of the list where the request gives none
	asked params.Query       // the request's own parameters where they differ from the list's, in canonical spelling
}

// plan plans the answer for a list, an item or the index of lists.
func (l *Lists) plan(ctx context.Context, base string, parts []string, f face, q params.Query) (response.Plan, error) {
	if name := parts[0]; len(parts) == 1 && (name == "lists" || name == "") {
		return l.overview("/"+name, f, q)
	}
	ls, err := l.listing(ctx, base, parts, f, q)
	if err != nil {
		return response.Plan{}, err
	}
	p := ls.plan(f.build, "list", f.suffix)
	p.ContentType, p.Headers = f.media+f.coding, ls.headers()
	return p, nil
}

// plan plans what write makes of the listing in a snapshot. The key tells that from what
// else is made of it.
func (l *listing) plan(write build, key ...string) response.Plan {
	key = append(key, l.links.Base, l.path, l.asked.String(), l.lists.o.Cite.Fingerprint)
	build := func(ctx context.Context, snap *view.Snapshot) (*response.Body, error) {
		a, err := l.on(ctx, snap)
		if err != nil {
			return nil, err
		}
		return write(ctx, a)
	}
	return response.Plan{View: l.View, Also: l.kind.also, Query: strings.Join(key, "\x00"), Build: build}
}

// narrowing are the parameters that say what is in a list.
var narrowing = append(params.Filters(), params.Words, params.Deep, params.IDs, params.Exclude)

// listing reads what a request asks of the list or the item of a path. Absolute URLs begin
// with the base.
func (l *Lists) listing(ctx context.Context, base string, parts []string, f face, q params.Query) (*listing, error) {
	about, err := l.find(ctx, parts)
	if err != nil {
		return nil, err
	}
	if base, err = l.baseOf(f, base); err != nil {
		return nil, err
	}
	reads := slices.Concat(narrowing, f.reads)
	if about.isItem() {
		if others := q.Beyond(q.Only(params.Lang, params.Style, params.Heading, params.JSONLD, params.LaTeX)); len(others) > 0 {
			return nil, rules.Wrongf(strings.Split(others.String(), "=")[0], "", "is no parameter of an item")
		}
		reads = f.reads
	}
	if q.Text(params.Sort) == params.Relevance && q.Text(params.Words) == "" {
		return nil, rules.Wrongf(params.Sort, "", "relevance needs q")
	}
	usual := f.usual.Over(about.usual)
	ls := &listing{list: about, lists: l, face: f, links: about.Links, rows: about.rows, asked: q.Only(reads...).Beyond(usual)}
	ls.links.Base, ls.rows.Query, ls.rows.Sorted = base, ls.asked.Over(usual), len(ls.asked[params.Sort]) > 0
	return ls, nil
}

// policy is the header of pages.
var policy = []response.Header{{Name: "Content-Security-Policy", Value: page.Policy}}

// notInNames matches what names of files do not have here.
var notInNames = regexp.MustCompile(`[^A-Za-z0-9]`)

// headers are those of the answer.
func (l *listing) headers() (all []response.Header) {
	if l.face.suffix == "" {
		return policy
	}
	if l.face.suffix != ".json" {
		all = append(all, response.Header{Name: "X-Robots-Tag", Value: "noindex"})
	}
	if l.face.suffix != ".html" {
		name := strings.Trim(notInNames.ReplaceAllString(strings.SplitN(l.path, "/", 3)[2], "-"), "-")
		all = append(all, response.Header{Name: "Content-Disposition", Value: `inline; filename="` + name + l.face.suffix + `"`})
	}
	return all
}

// address appends parameters to the address of a page.
func address(page string, q params.Query) string {
	if text := q.String(); text != "" {
		page += "?" + text
	}
	return page
}

// url returns the address of the list in a face.
func (l *listing) url(suffix string, q params.Query) string {
	return address(l.links.Base+l.path+suffix, q)
}

// answer is what a listing has in a snapshot. Faces write it. It is for one goroutine.
type answer struct {
	*listing
	*selection.Selection
	rules     *cite.Rules // of the view
	title     string
	canonical string // the path under which the list is to be known
	count     int    // of records
	pages     int
	items     []*item // of the page; nil where the face reads them while it writes
}

// on reads a listing in a snapshot, but not its items.
func (l *listing) on(ctx context.Context, snap *view.Snapshot) (*answer, error) {
	rows, err := l.rows.On(snap)
	if err != nil {
		return nil, err
	}
	a := &answer{listing: l, Selection: rows, rules: l.lists.o.Cite.View(l.View), canonical: l.path}
	if a.title, err = a.heading(ctx); err != nil {
		return nil, err
	}
	a.count, a.pages, err = a.Size(ctx)
	return a, err
}

// paged returns what builds the body of a face from the items of a page.
func paged(write build) build {
	return func(ctx context.Context, a *answer) (*response.Body, error) {
		for e, err := range a.Entries(ctx) {
			if err != nil {
				return nil, err
			}
			it := a.read(&item{Entry: e})
			if it.html, err = a.citation(ctx, it); err != nil {
				return nil, err
			}
			a.items = append(a.items, it)
		}
		return write(ctx, a)
	}
}

// heading returns the title of the list. That of a unit, person, project or topic is in the
// mark of a public record that names it, of the list's own view or of another that knows it;
// without one there is no such list.
func (a *answer) heading(ctx context.Context) (string, error) {
	lang := a.Query.Text(params.Lang)
	switch {
	case a.isItem():
		for e, err := range a.Entries(ctx) {
			if err != nil {
				return "", err
			}
			return a.read(&item{Entry: e}).title(), nil
		}
		return "", errNoItem
	case a.Kind == "" && a.Title == nil:
		return texts.In(lang).T(a.View), nil
	case a.Kind == "":
		return cmp.Or(a.Title[lang], a.Title["en"], a.path), nil
	}
	var anywhere bson.A
	for _, path := range a.kind.paths {
		anywhere = append(anywhere, bson.D{{Key: path, Value: a.ID}})
	}
	where := bson.D{{Key: "$or", Value: anywhere}}
	row, err := a.lists.first(ctx, a.Snap, where)
	for i := 0; row == nil && err == nil && i < len(a.kind.also); i++ {
		var snap *view.Snapshot
		if snap, err = a.lists.o.Views.Snapshot(a.kind.also[i]); err == nil {
			row, err = a.lists.first(ctx, snap, where)
		}
	}
	if row == nil && err == nil {
		err = notFound("No public record knows " + markup.PathSegment(a.ID) + ".")
	}
	one := selection.Known(mark.Of(row), a.Kind, a.ID)
	if id := raw.StringField(one, "id"); id != "" {
		a.canonical = "/lists/" + a.Kind + "/" + cite.Segment(id) // of a person by ORCID, too
	}
	return cmp.Or(selection.NameOf(one, lang), a.ID), err
}
