package api

import (
	"context"
	"fmt"

	"vitrine/cache/view"
	"vitrine/proxy/query"
	"vitrine/rules"
	"vitrine/rules/filter"
	"vitrine/rules/raw"
	"vitrine/rules/views"
)

// refinement is what a request asks for besides a filter: words and an order. Without an order the list has its
// own.
type refinement struct {
	words [][]string // the terms of a search; nil if there is none
	order raw.Sort   // nil means the list's own
	// nested selects, for each field of order, the rows in which its value may have fields of its own. It is nil if
	// the caller sees all fields.
	nested []*filter.Filter
}

// without returns the refinement without its order if that is the usual one. It returns nil if nothing is left.
func (r *refinement) without(usual raw.Sort) *refinement {
	switch {
	case r == nil || len(r.order) > 0 && !r.order.Equal(usual):
		return r
	case len(r.words) > 0:
		return &refinement{words: r.words}
	}
	return nil
}

// searches returns the terms of the search, or nil if there is none.
func (r *refinement) searches() [][]string {
	if r == nil {
		return nil
	}
	return r.words
}

// key returns a canonical text of the refinement, for the key of an answer. It has no zero bytes, and no name of a
// form begins with it.
func (r *refinement) key() (key string) {
	if len(r.words) > 0 {
		key = fmt.Sprintf("words %q ", r.words)
	}
	for _, f := range r.order {
		key += fmt.Sprintf("sort %t %q ", f.Desc, f.Path.String())
	}
	return key
}

// ordering returns the order that a request asks for, without the fields that no row has. If none is left, the rows
// are in the list's own order. ignored reports these fields if the view is in the store; otherwise the plan does.
//
// If the list is restricted, only the rows that the caller may see count.
func (r *refinement) ordering(
	ctx context.Context, s *view.Snapshot, selected view.Selection, restricted bool,
) (order raw.Sort, ignored string, err error) {
	if r == nil {
		return nil, "", nil
	}
	_, resident := s.Resident()
	var unknown []string
	for i, f := range r.order {
		there, path := true, f.Path.String()
		switch {
		case f.Path.Equal(raw.ByID.Path):
		case restricted:
			there, err = hasRows(selected.Narrow(ctx, filter.Has(path), view.Uncounted))
		case resident:
			there, err = s.Has(ctx, f.Path)
		default:
			there, err = hasRows(s.Select(ctx, filter.Has(path)))
			if !there {
				unknown = append(unknown, path)
			}
		}
		if err == nil && there && !resident && r.nested != nil {
			err = checkFlat(selected.Narrow(ctx, r.nested[i], view.Uncounted))
		}
		if err != nil {
			return nil, "", err
		}
		if there {
			order = append(order, f)
		}
	}
	return order, query.IgnoredPaths(unknown), nil
}

// hasRows reports whether a selection has a row.
func hasRows(rows view.Selection, err error) (bool, error) {
	return err == nil && rows.Count() > 0, err
}

// checkFlat returns an error if there are rows: those in which the value of a field of the order is a document. The
// store sorts by the whole document, so that the order would reveal its hidden fields. Rows in memory lack these.
func checkFlat(rows view.Selection, err error) error {
	if err == nil && rows.Count() > 0 {
		return rules.Wrongf(query.SortParam, "", "names a field with fields of its own, of which some may be hidden")
	}
	return err
}

// orderOf returns the order of a view's rows, before _id; nil if _id alone sorts them.
func orderOf(v views.View) raw.Sort {
	if v.Order == "" {
		return nil
	}
	return raw.Sort{{Path: raw.PathOf(v.Order), Desc: true}}
}
