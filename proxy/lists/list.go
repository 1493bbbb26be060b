package lists

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"vitrine/cache/view"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/lists/selection"
	"vitrine/rules"
	"vitrine/rules/cite"
	"vitrine/rules/filter"
)

// list is what a URL names: rows of a view, and how they are shown unless a request says
// otherwise. It is immutable.
type list struct {
	Definition
	path  string // escaped, such as /lists/unit/BIO
	kind  string // a parameter of kinds, items for a single item; empty: the list is about no record
	id    string // of what the list is about
	where *filter.Filter
	usual params.Query
	links cite.Links // without Base, which is the request's
}

// kinds are what lists are about: /lists/{kind}/{id}.
var kinds = []string{params.Unit, params.Person, params.Project, params.Topic}

// items is the kind of a single item.
const items = "items"

// notFound is the error of a path that names nothing.
func notFound(reason string) error { return &rules.Error{Kind: rules.ErrNotFound, Reason: reason} }

// newList returns a list of a view, about no record.
func (l *Lists) newList(d Definition, path string, where *filter.Filter) *list {
	all := l.o.Links
	return &list{
		Definition: d, path: path, where: where,
		links: cite.Links{
			Activity: cmp.Or(d.Links.Activity, all.Activity), Person: cmp.Or(d.Links.Person, all.Person), Project: cmp.Or(d.Links.Project, all.Project),
		},
		usual: params.Query{}.With(params.Facets, d.Facets...).Over(params.Query{
			params.Sort: {cmp.Or(d.Sort, "-year")}, params.Group: {cmp.Or(d.Group, params.None)},
			params.Limit: {strconv.Itoa(cmp.Or(max(d.PageSize, 0), 25))}, params.Facets: {params.Year, params.Type},
			params.Lang: {l.o.Language}, params.Style: {cmp.Or(d.Style, "web")},
		}),
	}
}

// find returns the list or the item of a path.
func (l *Lists) find(ctx context.Context, parts []string) (*list, error) {
	switch {
	case parts[0] == items:
		return l.item(ctx, parts[1:])
	case parts[0] != "lists":
		return nil, notFound("There is nothing at this path.")
	case len(parts) == 2:
		all := slices.Concat(l.whole, l.named)
		if i := slices.IndexFunc(all, func(one *list) bool { return one.Slug == parts[1] }); i >= 0 {
			return all[i], nil
		}
		return nil, notFound("There is no list of this name. /lists has all.")
	case len(parts) != 3 || !slices.Contains(kinds, parts[1]) || parts[2] == "":
		return nil, notFound("There is no such list. /lists has all.")
	}
	facets := []string{params.Year, params.Type, params.Person}
	switch parts[1] {
	case params.Person:
		facets[2] = params.Topic
	case params.Topic:
		facets[2] = params.Unit
	}
	about := l.newList(Definition{View: rules.ViewActivities, Facets: facets}, "/lists/"+parts[1]+"/"+cite.Segment(parts[2]), filter.All())
	about.kind, about.id = parts[1], parts[2]
	return about, nil
}

// item returns the list of the one public record of an id. It looks for the view that has
// it, which stays the same as long as the record is there.
func (l *Lists) item(ctx context.Context, parts []string) (*list, error) {
	if len(parts) == 1 && parts[0] != "" {
		for _, view := range views[:3] {
			snap, err := l.o.Views.Snapshot(view)
			if err != nil {
				return nil, err
			}
			where, err := l.shows(ctx, snap, parts[0])
			if err != nil {
				return nil, err
			}
			if where != nil {
				one := l.newList(Definition{View: view}, "/items/"+cite.Segment(parts[0]), where)
				one.kind, one.id = items, parts[0]
				return one, nil
			}
		}
	}
	return nil, notFound("There is no such item.")
}

// shows returns what selects the record of an id in a view, nil if lists do not show it.
func (l *Lists) shows(ctx context.Context, snap *view.Snapshot, id string) (*filter.Filter, error) {
	where, err := l.reader.Compile(selection.IDs("$in", []string{id}), "")
	if err != nil {
		return nil, nil // no record has such an id
	}
	row, err := snap.First(ctx, filter.And(l.public, where))
	if row == nil {
		where = nil
	}
	return where, err
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
