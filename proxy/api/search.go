package api

import (
	"context"

	"vitrine/cache/view"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/access"
	"vitrine/rules/raw"
)

// searched is a collection that /api/search looks through.
type searched struct {
	view     string
	columns  []string          // projected where none are asked for, beside the generated id
	rendered bool              // values are rendered as those of projects, unless raw
	needed   access.Permission // without it only the caller's own are found; "": everybody's
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

// search returns the resource of a collection.
func (e *Env) search(of searched) Handler {
	return func(ctx context.Context, r Request) (response.Plan, error) {
		f, err := e.query.SearchFilter(r.Params)
		if err != nil {
			return response.Plan{}, err
		}
		list := listing{view: of.view, filter: f}
		if of.needed != "" {
			if list, err = list.ownOnly(e, r, of.needed); err != nil {
				return response.Plan{}, err
			}
		}
		if list.page, err = r.Params.Page(); err != nil {
			return response.Plan{}, err
		}
		by, err := e.aggregation(r.Params)
		if err != nil {
			return response.Plan{}, err
		}
		if by.field != "" {
			return by.plan(list), nil
		}
		row, apart, err := e.searchRow(r.Params, of)
		if err != nil {
			return response.Plan{}, err
		}
		return foundRows{list, row, apart, of.order}.plan(), nil
	}
}

// searchRow reads what rows show, and which arrays are taken apart for it.
func (e *Env) searchRow(p query.Params, of searched) (row recordRow, apart unwinding, err error) {
	names, err := p.StoredColumns()
	if err != nil {
		return row, nil, err
	}
	if len(names) == 0 {
		names = of.columns
	}
	for _, name := range names {
		if name == "id" {
			continue // the generated one leads every row (DESIGN.md: 16)
		}
		if row.columns, err = row.columns.With(name); err != nil {
			return row, nil, err
		}
	}
	if of.rendered {
		row.style = e.styleOf(p)
	}
	return row, unwindingOf(names...), nil
}

// foundRows lists what a search found: a row for each record, or for each element
// of the arrays that are taken apart.
type foundRows struct {
	list  listing
	row   recordRow
	apart unwinding
	order raw.Sort
}

func (f foundRows) plan() response.Plan {
	return f.list.plan("search "+f.row.key(), func(ctx context.Context, s *view.Snapshot) (*response.Body, error) {
		selected, err := s.Select(ctx, f.list.filter)
		if err != nil {
			return nil, err
		}
		selected = selected.By(f.order)
		if len(f.apart) > 0 {
			return f.unwound(ctx, selected)
		}
		count := selected.Count()
		return response.Join(response.List(count, f.list.page), f.list.cut(ctx, selected), f.row.append), nil
	})
}

// unwound lists rows that arrays are taken apart for. They are counted first, then made
// one after the other: several large arrays in one record multiply.
func (f foundRows) unwound(ctx context.Context, selected view.Selection) (*response.Body, error) {
	count, err := f.apart.count(ctx, selected.Rows(ctx, 0, 0))
	if err != nil {
		return nil, err
	}
	from, to := f.list.page.Cut(count)
	// Rows may be made while they are sent, when the request's time is over.
	all := f.apart.each(context.WithoutCancel(ctx), selected.Rows(ctx, 0, 0), from)
	rows := func(yield func(*unwoundRow, error) bool) {
		left := to - from
		if left == 0 {
			return
		}
		for row, err := range all {
			if left--; !yield(row, err) || left == 0 {
				return
			}
		}
	}
	appendRow := func(dst []byte, row *unwoundRow) []byte { return f.row.appendFields(dst, row.doc, row.field) }
	b := response.Join(response.List(count, f.list.page), rows, appendRow)
	for row, err := range f.apart.each(ctx, selected.Rows(ctx, 0, 1), 0) { // the first row speaks for all, roughly
		if err != nil {
			return nil, err
		}
		b.Guess = (to - from) * len(appendRow(nil, row)) / 2
		break
	}
	return b, nil
}
