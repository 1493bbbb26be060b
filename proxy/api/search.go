package api

import (
	"context"

	"vitrine/cache/view"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/access"
	"vitrine/rules/raw"
)

// searched is a collection that /api/search looks through.
type searched struct {
	view     string
	columns  []string          // of a request that names none, beside the generated id
	rendered bool              // values are rendered as those of projects, unless raw
	needed   access.Permission // without it only the caller's own are found; "": needs none
	order    raw.Sort          // nil: the view's own, which is the searches' order already
}

// searches are the collections by the last part of their path (API.md: search/…;
// DESIGN.md: 12).
func searches() map[string]searched {
	byYear := newestFirst()
	return map[string]searched{
		"proposals": {
			view: rules.ViewProposals, columns: []string{"name", "title", "type"}, rendered: true, needed: access.ProposalsView,
		},
		"projects": {
			view: rules.ViewProjects, columns: []string{"name", "title", "type"}, rendered: true, needed: access.ProjectsView,
		},
		"journals":    {view: rules.ViewJournals, columns: []string{"journal", "issn", "publisher"}},
		"persons":     {view: rules.ViewPersons, columns: []string{"first", "last", "username"}, order: byYear},
		"activities":  {view: rules.ViewActivities, columns: []string{"title", "type", "subtype", "year"}},
		"conferences": {view: rules.ViewEvents, columns: []string{"title", "type", "start", "end", "location"}, order: byYear},
	}
}

// search returns the resource of a collection. The generated id leads every row
// (DESIGN.md: 16).
func (e *Env) search(of searched) Handler {
	return func(_ context.Context, r Request) (response.Plan, error) {
		p := r.Params
		list := listing{view: of.view, filter: e.query.SearchFilter(p)}.ownOnly(e, r, of.needed)
		list.page = p.Page()
		by, err := e.aggregation(p)
		if err != nil {
			return response.Plan{}, err
		}
		if by.field != "" {
			return by.plan(list), nil
		}
		row := recordRow{columns: p.StoredColumns(of.columns...)}
		if of.rendered {
			row.style = e.styleOf(p)
		}
		list.order = of.order
		var paths []string
		for _, c := range row.columns {
			paths = append(paths, c.Name)
		}
		if arrays := unwindingOf(paths...); len(arrays) > 0 {
			return list.unwound(row, arrays), nil
		}
		return list.rows("search "+row.key(), row.append), nil
	}
}

// unwound lists the rows of unwound arrays, one for each element. It counts them first,
// then makes one after the other: several large arrays in one record multiply.
func (l listing) unwound(row recordRow, arrays unwinding) response.Plan {
	appendRow := func(dst []byte, r *unwoundRow) []byte { return row.appendFields(dst, r.doc, r.field) }
	return l.plan("search "+row.key(), func(ctx context.Context, _ *view.Snapshot, selected view.Selection) (*response.Body, error) {
		count, err := arrays.count(ctx, selected.Rows(ctx, 0, 0))
		if err != nil {
			return nil, err
		}
		from, to := l.page.Cut(count)
		// Rows may be made while they are sent, when the request's time is over.
		b := response.Join(response.List(count, l.page), arrays.each(context.WithoutCancel(ctx), selected.Rows(ctx, 0, 0), from, to), appendRow)
		for r, err := range arrays.each(ctx, selected.Rows(ctx, 0, 1), 0, 1) { // the first row speaks for all, roughly
			if err != nil {
				return nil, err
			}
			b.Guess = (to - from) * len(appendRow(nil, r)) / 2
		}
		return b, nil
	})
}
