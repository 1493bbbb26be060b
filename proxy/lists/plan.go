package lists

import (
	"context"
	"errors"
	"iter"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"

	"vitrine/cache/view"
	"vitrine/proxy/lists/page"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/lists/selection"
	"vitrine/proxy/response"
	"vitrine/rules"
)

// Request is a call, copied out of the server's buffers.
type Request struct {
	Path   string // as sent, with its escapes
	Args   iter.Seq2[[]byte, []byte]
	Accept string // which of Offers the client prefers; empty: none
	Base   string // what URLs of the answer begin with, see Lists.Base
}

// Plan returns the plan of a request's answer.
func (l *Lists) Plan(ctx context.Context, r Request) (response.Plan, error) {
	parts, f, err := partsOf(r.Path)
	if err != nil {
		return response.Plan{}, err
	}
	switch parts[0] {
	case "oembed":
		return l.oEmbed(ctx, r)
	case "sitemap.xml":
		return l.sitemap(r)
	}
	last := len(parts) - 1
	name, open := parts[last], f.suffix == ""
	if open {
		f = negotiated(r.Accept)
	}
	q, err := params.Parse(r.Args)
	if err != nil {
		return response.Plan{}, err
	}
	var p response.Plan
	if len(parts) == 1 && (name == "lists" || name == "") {
		p, err = l.overview(r.Base, name == "", f, q)
	} else {
		p, err = l.plan(ctx, r.Base, parts, f, q)
	}
	if !open && parts[0] == "items" && errors.Is(err, rules.ErrNotFound) { // the suffix may belong to the id
		parts[last], open = name+f.suffix, true
		p, err = l.plan(ctx, r.Base, parts, negotiated(r.Accept), q)
	}
	if open {
		p.Negotiated = "Accept"
	}
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

// listing is a list as a request asks for it.
type listing struct {
	*selection.Selection // of the plan's snapshot, once there is one
	*list
	lists *Lists
	face  face
	base  string
	q     params.Query // all parameters, those of the list where the request gives none
	asked params.Query // the request's own parameters where they differ from the list's, in canonical spelling

	// Set when the plan's Build runs.
	snap      *view.Snapshot
	canonical string // the path under which the list is to be known; empty: its own
}

// on returns the listing of a snapshot.
func (l *listing) on(snap *view.Snapshot) *listing {
	now := *l
	now.snap, now.Selection = snap, l.Selection.On(snap)
	return &now
}

// plan plans the answer for a list or an item.
func (l *Lists) plan(ctx context.Context, base string, parts []string, f face, q params.Query) (response.Plan, error) {
	about, err := l.about(ctx, parts)
	if err != nil {
		return response.Plan{}, err
	}
	ls, err := l.listing(about, base, f, q)
	if err != nil {
		return response.Plan{}, err
	}
	build := func(ctx context.Context, snap *view.Snapshot) (*response.Body, error) {
		return f.build(ls.on(snap), ctx)
	}
	query := []string{"list", base, about.path, f.suffix, ls.asked.String(), l.o.Cite.Fingerprint}
	return response.Plan{
		View: about.view, Also: about.also(), Query: strings.Join(query, "\x00"),
		Build: build, ContentType: f.media, Headers: ls.headers(),
	}, nil
}

// newest is how many items a feed has at most.
const newest = "50"

// about returns the list or the item of a path.
func (l *Lists) about(ctx context.Context, parts []string) (*list, error) {
	switch parts[0] {
	case "lists":
		return l.find(parts[1:])
	case "items":
		return l.item(ctx, parts[1:])
	}
	return nil, notFound("There is nothing at this path.")
}

// listing reads what a request asks of a list.
func (l *Lists) listing(about *list, base string, f face, q params.Query) (*listing, error) {
	about.links.Base = base
	reads := append(params.Filters(), params.Words, params.Deep, params.IDs, params.Exclude)
	if about.kind == items {
		if others := q.Beyond(q.Only(params.Lang, params.Style, params.Heading, params.JSONLD, params.LaTeX)); others.String() != "" {
			return nil, rules.Wrongf(strings.Split(others.String(), "=")[0], "", "is no parameter of an item")
		}
		reads = nil
	}
	if q.Text(params.Sort) == params.Relevance && q.Text(params.Words) == "" {
		return nil, rules.Wrongf(params.Sort, "", "relevance needs q")
	}
	switch {
	case f.isFeed():
		about.usual = about.usual.With(params.Sort, "-year").With(params.Group, params.None).With(params.Limit, newest)
	case f.whole:
		about.usual = about.usual.With(params.Limit).With(params.Group, params.None)
	case f.suffix == ".html":
		about.usual = about.usual.With(params.Facets, params.None)
	}
	asked := q.Only(append(reads, f.reads...)...).Beyond(about.usual)
	rows := selection.About{View: about.view, Where: about.where, Sorted: len(asked[params.Sort]) > 0}
	if about.kind != items {
		rows.Kind, rows.ID = about.kind, about.id
	}
	q = asked.Over(about.usual)
	selected, err := selection.New(selection.Options{Reader: l.reader, Public: l.public, Labels: l.o.Labels}, rows, q)
	return &listing{Selection: selected, list: about, lists: l, face: f, base: base, asked: asked, q: q}, err
}

// notInNames matches what names of files do not have here.
var notInNames = regexp.MustCompile(`[^A-Za-z0-9]`)

// headers are those of the answer.
func (l *listing) headers() (all []response.Header) {
	if l.face.suffix == "" {
		return []response.Header{{Name: "Content-Security-Policy", Value: page.Policy}}
	}
	if l.face.suffix != ".json" {
		all = append(all, response.Header{Name: "X-Robots-Tag", Value: "noindex"})
	}
	if l.face.label != "" || l.face.isFeed() {
		_, name, _ := strings.Cut(l.path[1:], "/")
		name = strings.Trim(notInNames.ReplaceAllString(name, "-"), "-")
		all = append(all, response.Header{Name: "Content-Disposition", Value: `inline; filename="` + name + l.face.suffix + `"`})
	}
	return all
}

// also are the views beside its own that a list depends on: those that know what it is about.
func (l *list) also() []string {
	switch l.kind {
	case params.Unit, params.Person:
		return []string{rules.ViewPersons}
	case params.Project:
		return []string{rules.ViewProjects}
	}
	return nil
}

// url returns the address of the list in a face.
func (l *listing) url(suffix string, q params.Query) string {
	address := l.base + l.path + suffix
	if text := q.String(); text != "" {
		address += "?" + text
	}
	return address
}
