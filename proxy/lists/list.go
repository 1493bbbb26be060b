package lists

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/lists/selection"
	"vitrine/rules"
	"vitrine/rules/cite"
	"vitrine/rules/filter"
	"vitrine/rules/mark"
)

// list is what a URL names: rows of a view, and how they are shown unless a request says
// otherwise. It is immutable.
type list struct {
	Definition
	path  string // escaped, such as /lists/unit/BIO
	kind  kind   // of what the list is about; without a name: about no record
	id    string // of what the list is about
	where *filter.Filter
	usual params.Query
}

// kind is a kind of what lists are about: /lists/{name}/{id}.
type kind struct {
	name  string   // a parameter that selects the rows
	facet string   // that its lists have beside year and type
	also  []string // views beside their own that know what they are about
	paths []string // where marks have it
}

var kinds = []kind{
	{params.Unit, params.Person, []string{rules.ViewPersons}, []string{mark.Unit, mark.In}},
	{params.Person, params.Topic, []string{rules.ViewPersons}, []string{mark.Person, mark.ORCID}},
	{params.Project, params.Person, []string{rules.ViewProjects}, []string{mark.Project}},
	{params.Topic, params.Unit, nil, []string{mark.Topic}},
}

// isItem reports whether a list is about a single record.
func (l *list) isItem() bool { return l.kind.name == params.IDs }

// notFound is the error of a path that names nothing.
func notFound(reason string) error { return &rules.Error{Kind: rules.ErrNotFound, Reason: reason} }

// newList returns a list of a view, about no record.
func (l *Lists) newList(d Definition, path string, where *filter.Filter) *list {
	all := l.o.Links
	d.Links = cite.Links{
		Activity: cmp.Or(d.Links.Activity, all.Activity), Person: cmp.Or(d.Links.Person, all.Person), Project: cmp.Or(d.Links.Project, all.Project),
	}
	return &list{
		Definition: d, path: path, where: where,
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
	case parts[0] == "items":
		return l.item(ctx, parts[1:])
	case parts[0] != "lists":
		return nil, notFound("There is nothing at this path.")
	case len(parts) == 2:
		all := slices.Concat(l.whole, l.named)
		if i := slices.IndexFunc(all, func(one *list) bool { return one.Slug == parts[1] }); i >= 0 {
			return all[i], nil
		}
		return nil, notFound("There is no list of this name. /lists has all.")
	case len(parts) == 3 && parts[2] != "":
		for _, k := range kinds {
			if k.name == parts[1] {
				d := Definition{View: rules.ViewActivities, Facets: []string{params.Year, params.Type, k.facet}}
				about := l.newList(d, "/lists/"+k.name+"/"+cite.Segment(parts[2]), filter.All())
				about.kind, about.id = k, parts[2]
				return about, nil
			}
		}
	}
	return nil, notFound("There is no such list. /lists has all.")
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
			if shown, err := l.shows(ctx, snap, parts[0]); shown || err != nil {
				one := l.newList(Definition{View: view}, "/items/"+cite.Segment(parts[0]), filter.All())
				one.kind.name, one.id = params.IDs, parts[0]
				return one, err
			}
		}
	}
	return nil, notFound("There is no such item.")
}

// shows reports whether lists show the record of an id in a view.
func (l *Lists) shows(ctx context.Context, snap *view.Snapshot, id string) (bool, error) {
	row, err := l.first(ctx, snap, selection.IDs("$in", []string{id}))
	if errors.Is(err, rules.ErrWrongCall) {
		err = nil // no record has such an id
	}
	return row != nil, err
}

// first returns the first row that lists show of those that a condition selects, nil if there
// is none.
func (l *Lists) first(ctx context.Context, snap *view.Snapshot, condition bson.D) (bson.Raw, error) {
	where, err := l.reader.Compile(condition, "")
	if err != nil {
		return nil, err
	}
	return snap.First(ctx, filter.And(l.public, where))
}
