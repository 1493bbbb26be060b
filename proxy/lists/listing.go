package lists

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"vitrine/proxy/lists/params"
	"vitrine/proxy/lists/selection"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/filter"
	"vitrine/rules/identifier"
	"vitrine/rules/mark"
)

// listing is a list or an item, with the parameters of a request except in Lists. It is immutable.
type listing struct {
	lists  *Lists
	def    Definition
	path   string             // escaped, such as /lists/unit/BIO
	about  subject            // zero if the list is not about a subject
	usual  params.Query       // defaults of the list
	rows   selection.Question // its Query has all effective parameters
	format format
	links  Links        // its Base is the beginning of the URLs in the answer
	asked  params.Query // parameters of the request that differ from their defaults
}

// subject is a kind of subject that a list can be about: /lists/{name}/{id}.
type subject struct {
	name  string   // a parameter that selects the rows
	facet string   // a facet of these lists, beside year and type
	also  []string // other views that have the name of a subject
	paths []string // paths of the subject's id in marks
}

var subjects = []subject{
	{params.Unit, params.Person, []string{rules.ViewPersons}, []string{mark.Unit, mark.In}},
	{params.Person, params.Topic, []string{rules.ViewPersons}, []string{mark.Person, mark.ORCID}},
	{params.Project, params.Person, []string{rules.ViewProjects}, []string{mark.Project}},
	{params.Topic, params.Unit, nil, []string{mark.Topic}},
}

func (l *listing) isItem() bool { return l.rows.Kind == params.IDs }

func notFound(reason string) error { return &rules.Error{Kind: rules.ErrNotFound, Reason: reason} }

// newListing returns a list of all rows of a view, at /lists/{slug}.
func (l *Lists) newListing(d Definition) listing {
	return listing{
		lists: l, def: d, path: "/lists/" + d.Slug,
		rows: selection.Question{Labels: l.shared.Labels, Public: l.public, View: d.View},
		links: Links{
			Activity: cmp.Or(d.Links.Activity, l.o.Links.Activity), Person: cmp.Or(d.Links.Person, l.o.Links.Person),
			Project: cmp.Or(d.Links.Project, l.o.Links.Project),
		},
		usual: params.Query{}.With(params.Facets, d.Facets...).With(params.Group, d.Group...).Over(params.Query{
			params.Sort: {cmp.Or(d.Sort, "-year")}, params.Group: {params.None},
			params.Limit: {strconv.Itoa(cmp.Or(max(d.PageSize, 0), 25))}, params.Facets: {params.Year, params.Type},
			params.Lang: {l.shared.Language}, params.Style: {cmp.Or(d.Style, "web")},
		}),
	}
}

func (l *Lists) find(ctx context.Context, planning *response.Planning, parts []string) (listing, error) {
	switch {
	case parts[0] == "items" && len(parts) == 2 && parts[1] != "":
		return l.item(ctx, planning, parts[1])
	case parts[0] == "items":
		return listing{}, errNoItem
	case parts[0] != "lists":
		return listing{}, notFound("There is nothing at this path.")
	case len(parts) == 2:
		var names []string
		for _, one := range l.lists {
			if one.def.Slug == parts[1] {
				return one, nil
			}
			for _, f := range formats {
				names = append(names, one.def.Slug+f.suffix)
			}
		}
		return listing{}, notFound("There is no list of this name. /lists has all" + cmp.Or(params.DidYouMean(parts[1], names), "."))
	}
	for _, s := range subjects {
		if len(parts) == 3 && parts[1] == s.name && parts[2] != "" {
			about := l.newListing(Definition{View: rules.ViewActivities, Facets: []string{params.Year, params.Type, s.facet}})
			id := parts[2]
			if s.name == params.Person {
				id = cmp.Or(identifier.FindORCID(id), id)
			}
			about.path, about.about, about.rows.Kind, about.rows.ID = listPath(s.name, id), s, s.name, id
			return about, nil
		}
	}
	var kinds []string
	for _, s := range subjects {
		kinds = append(kinds, s.name)
	}
	return listing{}, notFound("There is no such list. /lists has all" + cmp.Or(params.DidYouMean(parts[1], kinds), "."))
}

var errNoItem = notFound("There is no such item.")

// item returns the listing of the public record with an id, which stays in its view as long as it exists, or nearly so:
// the plan is made anew if the view does not have it any more.
func (l *Lists) item(ctx context.Context, planning *response.Planning, id string) (listing, error) {
	for _, view := range views[:3] {
		snap, err := planning.Guess(view)
		if err != nil {
			return listing{}, err
		}
		if row, err := snap.FirstTraced(ctx, filter.And(l.public, selection.IDs(id).As("the path"))); row != nil || err != nil {
			one := l.newListing(Definition{View: view})
			one.path, one.rows.Kind, one.rows.ID = "/items/"+segment(id), params.IDs, id
			return one, err
		}
	}
	return listing{}, errNoItem
}

// filterParams are the parameters that select the rows of a list.
var filterParams = append(params.Framing(), params.Narrowing()...)

// listing applies a request's parameters to the list or item at a path. Absolute URLs begin with the request's base;
// other URLs are relative, so that an answer is the same for all hosts.
func (l *Lists) listing(ctx context.Context, r Request, parts []string, f format, q params.Query) (*listing, error) {
	ls, err := l.find(ctx, r.Planning, parts)
	if err != nil {
		return nil, err
	}
	base := r.Base
	if !f.absolute() {
		base = l.o.BaseURL
	} else if base == "" {
		return nil, ErrHost
	}
	reads := slices.Concat(filterParams, f.reads)
	if ls.isItem() {
		if others := q.Beyond(q.Only(params.Authors, params.Lang, params.Style, params.Show, params.Heading, params.JSONLD, params.LaTeX, params.Embed, params.Theme)); len(others) > 0 {
			return nil, rules.Wrongf(strings.Split(others.String(), "=")[0], "", "is no parameter of an item")
		}
		reads = f.reads
	}
	if q.Text(params.Sort) == params.Relevance && len(q.Both(params.Words)) == 0 {
		return nil, rules.Wrongf(params.Sort, "", "relevance needs q")
	}
	usual := f.usual.Over(ls.usual)
	sort := usual[params.Sort]
	if !f.feed && len(q.Only(reads...).Over(usual).Order()) > 0 { // the ids are the order, unless the request has another
		usual = usual.With(params.Sort).With(params.Group, params.None)
	}
	ls.rows.Year = r.year(l.shared.Zone)
	ls.format, ls.links.Base, ls.asked = f, base, q.Only(reads...).Beyond(usual).Simplify()
	if !f.choices(q) {
		ls.asked = ls.asked.Merge()
	}
	ls.rows.Query = ls.asked.Over(usual)
	if ls.rows.Sorted = len(usual[params.Sort])+len(ls.asked[params.Sort])+len(ls.asked[params.Group]) > 0; ls.rows.Sorted {
		ls.rows.Query = ls.rows.Query.Over(params.Query{params.Sort: sort})
	}
	return &ls, nil
}

func (l *listing) url(suffix string, q params.Query) string {
	return address(l.links.Base+l.path+suffix, q)
}

// notWhole are parameters of a page of a list, and not of the whole list.
var notWhole = []string{params.Page, params.Limit, params.Facets, params.Chart, params.JSONLD}

// whole returns the address of the whole list in another format, with what the format has of this one's look.
func (l *listing) whole(f format) string {
	q := l.asked.Merge().Only(slices.Concat(filterParams, f.reads)...)
	return l.url(f.suffix, q.Beyond(q.Only(notWhole...)))
}

// sitePage returns the address of page n of the list on the site that shows it.
func (l *listing) sitePage(n int) string {
	return strings.ReplaceAll(l.def.PageURL, "{page}", strconv.Itoa(n))
}

func address(page string, q params.Query) string {
	if text := q.String(); text != "" {
		page += "?" + text
	}
	return page
}
