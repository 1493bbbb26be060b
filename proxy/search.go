package proxy

import (
	"context"

	"vitrine/cache/view"
	"vitrine/rules"
	"vitrine/rules/access"
	"vitrine/rules/filter"
)

// searched is a collection that /api/search looks through.
type searched struct {
	view     string
	columns  []string          // projected where none are asked for, beside the generated id
	rendered bool              // values are rendered as those of projects, unless raw
	needed   access.Permission // without it only the caller's own are found; "": everybody's
	order    filter.Sort       // nil: the view's own, which is the searches' order already
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
func (s *Server) search(of searched) resource {
	return func(ctx context.Context, r request) (plan, error) {
		f, err := s.searchedFilter(r.params, func(p params) (*filter.Filter, error) { return s.readFilter(p, "") })
		if err != nil {
			return plan{}, err
		}
		if of.needed != "" {
			own, err := s.ownOnly(ctx, r, of.needed)
			if err != nil {
				return plan{}, err
			}
			f = filter.And(f, own)
		}
		g, err := r.params.page()
		if err != nil {
			return plan{}, err
		}
		list := listing{view: of.view, filter: f, page: g}
		by, err := s.aggregation(r.params)
		if err != nil {
			return plan{}, err
		}
		if by.field != "" {
			return by.plan(list), nil
		}
		row, apart, err := s.searchRow(r.params, of)
		if err != nil {
			return plan{}, err
		}
		return foundRows{list, row, apart, of.order}.plan(), nil
	}
}

// searchRow reads what rows show, and which arrays are taken apart for it.
func (s *Server) searchRow(p params, of searched) (row recordRow, apart unwinding, err error) {
	names, err := s.storedColumns(p)
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
		if row.columns, err = row.columns.with(name); err != nil {
			return row, nil, err
		}
	}
	if of.rendered {
		row.style, err = s.styleOf(p)
	}
	return row, unwindingOf(names...), err
}

// foundRows lists what a search found: a row for each record, or for each element
// of the arrays that are taken apart.
type foundRows struct {
	list  listing
	row   recordRow
	apart unwinding
	order filter.Sort
}

func (f foundRows) plan() plan {
	return f.list.plan("search "+f.row.key(), func(ctx context.Context, s *view.Snapshot) (*body, error) {
		selected, err := s.Select(ctx, f.list.filter)
		if err != nil {
			return nil, err
		}
		selected = selected.By(f.order)
		if len(f.apart) > 0 {
			return f.unwound(ctx, s, selected)
		}
		count := selected.Count()
		b := &body{count: count, head: openList(count), tail: closeList(f.list.page)}
		return b.list(f.list.cut(ctx, selected), f.row.append), nil
	})
}

// unwound lists rows that arrays are taken apart for. All of a view in the store are
// counted first, then made one after the other.
func (f foundRows) unwound(ctx context.Context, s *view.Snapshot, selected *view.Selection) (*body, error) {
	rows, count, err := f.apart.page(ctx, selected.Rows(ctx, 0, 0), f.list.page, s.Stored())
	if err != nil {
		return nil, err
	}
	b := &body{count: count, head: openList(count), tail: closeList(f.list.page), items: between(0, len(rows))}
	var at unwoundRow
	if s.Stored() && f.list.page.limit == 0 {
		b.items = func(yield func(int) bool) {
			for row, err := range f.apart.each(ctx, selected.Rows(ctx, 0, 0)) {
				if at = row; err != nil {
					b.failed = err
					return
				}
				if !yield(0) {
					return
				}
			}
		}
	}
	b.row = func(dst []byte, item int) []byte {
		if len(rows) > 0 {
			at = rows[item]
		}
		doc := at.row.Doc()
		return f.row.appendFields(dst, doc, f.apart.fields(doc, at.nth))
	}
	return b, nil
}
