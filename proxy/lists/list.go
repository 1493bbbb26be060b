package lists

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/lists/selection"
	"vitrine/proxy/lists/texts"
	"vitrine/rules"
	"vitrine/rules/cite"
	"vitrine/rules/filter"
	"vitrine/rules/mark"
	"vitrine/rules/markup"
	"vitrine/rules/raw"
)

// list is what a URL names: rows of a view, and how they are shown unless a request says
// otherwise.
type list struct {
	path    string // escaped, such as /lists/unit/BIO
	view    string
	kind    string // a parameter of kinds, items for a single item; empty: the list is about no record
	id      string // of what the list is about
	where   *filter.Filter
	usual   params.Query
	title   map[string]string // by language; nil: that of the record or the view
	links   cite.Links
	pageURL string
}

// kinds are what lists are about: /lists/{kind}/{id}.
var kinds = []string{params.Unit, params.Person, params.Project, params.Topic}

// items is the kind of a single item.
const items = "items"

// pageSize is how many items a page has if nothing else is said.
const pageSize = 25

// notFound is the error of a path that names nothing.
func notFound(reason string) error { return &rules.Error{Kind: rules.ErrNotFound, Reason: reason} }

// find returns the list that the parts of a path below /lists name.
func (l *Lists) find(parts []string) (*list, error) {
	switch {
	case len(parts) == 1 && slices.Contains(views[:3], parts[0]):
		view := parts[0]
		facets := map[string][]string{rules.ViewEvents: {params.Year, params.Type}}[view]
		if facets == nil {
			facets = []string{params.Year, params.Type, params.Unit}
		}
		return l.newList(list{view: view}, facets, parts...), nil
	case len(parts) == 1:
		i := slices.IndexFunc(l.o.Named, func(d Definition) bool { return d.Slug == parts[0] })
		if i < 0 {
			return nil, notFound("There is no list of this name. /lists has all.")
		}
		return l.named(l.o.Named[i]), nil
	case len(parts) == 2 && slices.Contains(kinds, parts[0]) && parts[1] != "":
		facets := map[string][]string{
			params.Person: {params.Year, params.Type, params.Topic}, params.Topic: {params.Year, params.Type, params.Unit},
		}[parts[0]]
		if facets == nil {
			facets = []string{params.Year, params.Type, params.Person}
		}
		return l.newList(list{view: rules.ViewActivities, kind: parts[0], id: parts[1]}, facets, parts...), nil
	}
	return nil, notFound("There is no such list. /lists has all.")
}

// newList completes a list of the program.
func (l *Lists) newList(about list, facets []string, parts ...string) *list {
	for i, part := range parts {
		parts[i] = cite.Segment(part)
	}
	about.path, about.where = "/lists/"+strings.Join(parts, "/"), filter.All()
	about.usual = l.usualOf(Definition{Facets: facets})
	about.links = l.linksOf(Links{})
	return &about
}

// named returns a list of the configuration.
func (l *Lists) named(d Definition) *list {
	return &list{
		path: "/lists/" + d.Slug, view: d.View, where: l.where[d.Slug], title: d.Title, usual: l.usualOf(d),
		links: l.linksOf(d.Links), pageURL: d.PageURL,
	}
}

// linksOf returns the links of a list that has some of its own.
func (l *Lists) linksOf(own Links) cite.Links {
	all := l.o.Links
	return cite.Links{
		Activity: cmp.Or(own.Activity, all.Activity), Person: cmp.Or(own.Person, all.Person), Project: cmp.Or(own.Project, all.Project),
	}
}

// usualOf returns the parameters of a list that a request need not give.
func (l *Lists) usualOf(d Definition) params.Query {
	facets := d.Facets
	if len(facets) == 0 {
		facets = []string{params.Year, params.Type}
	}
	return params.Query{}.
		With(params.Sort, cmp.Or(d.Sort, "-year")).With(params.Group, cmp.Or(d.Group, params.None)).
		With(params.Limit, strconv.Itoa(cmp.Or(max(d.PageSize, 0), pageSize))).With(params.Facets, facets...).
		With(params.Lang, l.o.Language).With(params.Style, cmp.Or(d.Style, "web"))
}

// item returns the list of the one public record of an id. It looks for the view that has
// it, which stays the same as long as the record is there.
func (l *Lists) item(ctx context.Context, parts []string) (*list, error) {
	if len(parts) != 1 || parts[0] == "" {
		return nil, notFound("There is no such item.")
	}
	where, err := l.reader.Compile(selection.IDs("$in", parts), "")
	if err != nil {
		return nil, notFound("There is no such item.")
	}
	one := l.newList(list{kind: items, id: parts[0]}, nil)
	one.path, one.where = "/items/"+cite.Segment(parts[0]), where
	for _, one.view = range views[:3] {
		snapshot, err := l.o.Views.Snapshot(one.view)
		if err != nil {
			return nil, err
		}
		shown, err := l.shows(ctx, snapshot, parts[0])
		if shown || err != nil {
			return one, err
		}
	}
	return nil, notFound("There is no such item.")
}

// shows reports whether lists show the record of an id in a view.
func (l *Lists) shows(ctx context.Context, snap *view.Snapshot, id string) (bool, error) {
	where, err := l.reader.Compile(selection.IDs("$in", []string{id}), "")
	if err != nil {
		return false, nil // no record has such an id
	}
	row, err := snap.First(ctx, filter.And(l.public, where))
	return row != nil, err
}

// heading returns the title of a list. That of a unit, person, project or topic is in the
// mark of a public record that names it; without one there is no such list.
func (l *listing) heading(ctx context.Context) (string, error) {
	lang := l.q.Text(params.Lang)
	switch l.kind {
	case "":
		if l.title == nil {
			return texts.In(lang).T(l.view), nil
		}
		return cmp.Or(l.title[lang], l.title["en"], l.path), nil
	case items:
		for it, err := range l.items(ctx) {
			if err != nil {
				return "", err
			}
			return it.title(), nil
		}
		return "", notFound("There is no such item.")
	}
	snapshots := []*view.Snapshot{l.snap}
	for _, name := range l.also() {
		other, err := l.lists.o.Views.Snapshot(name)
		if err != nil {
			return "", err
		}
		snapshots = append(snapshots, other)
	}
	for _, path := range []string{selection.Paths[l.kind], map[string]string{params.Unit: mark.In, params.Person: mark.ORCID}[l.kind]} {
		if path == "" {
			continue
		}
		where, err := l.lists.reader.Compile(bson.D{{Key: path, Value: l.id}}, "")
		if err != nil {
			return "", err
		}
		for _, snapshot := range snapshots {
			row, err := snapshot.First(ctx, filter.And(l.lists.public, where))
			if err != nil {
				return "", err
			}
			if row != nil {
				one := selection.Known(mark.Of(row), l.kind, l.id)
				if id := raw.StringField(one, "id"); id != "" {
					l.canonical = "/lists/" + l.kind + "/" + cite.Segment(id) // of a person by ORCID, too
				}
				return cmp.Or(selection.NameOf(one, lang), l.id), nil
			}
		}
	}
	return "", notFound("No public record knows " + markup.PathSegment(l.id) + ".")
}
