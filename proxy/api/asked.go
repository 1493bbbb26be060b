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

// asked is what a request asks for beside a filter: words and an order. API.md's own order applies without one.
type asked struct {
	words [][]string // the terms of a search; nil if there is none
	order raw.Sort   // nil means the list's own
	// nested selects, for each field of order, the rows in which its value may have fields of its own. It is nil if
	// the caller sees all fields.
	nested []*filter.Filter
}

// beside returns what is asked for of a list in some order; nil is nothing.
func (a *asked) beside(usual raw.Sort) *asked {
	switch {
	case a == nil || len(a.order) > 0 && !a.order.Equal(usual):
		return a
	case len(a.words) > 0:
		return &asked{words: a.words}
	}
	return nil
}

// searches returns the terms of a search, if there is one.
func (a *asked) searches() [][]string {
	if a == nil {
		return nil
	}
	return a.words
}

// key is a canonical name. It has no zero bytes, and is no beginning of a form.
func (a *asked) key() (key string) {
	if len(a.words) > 0 {
		key = fmt.Sprintf("words %q ", a.words)
	}
	for _, f := range a.order {
		key += fmt.Sprintf("sort %t %q ", f.Desc, f.Path.String())
	}
	return key
}

// ordering returns the order that a request asks for, without the fields that no row has: the rows are in the list's
// own order if none is left. ignored reports these fields where the view is in the store; otherwise the plan does.
//
// If the list is restricted, only the rows that the caller may see count.
func (a *asked) ordering(
	ctx context.Context, s *view.Snapshot, selected view.Selection, restricted bool,
) (order raw.Sort, ignored string, err error) {
	if a == nil {
		return nil, "", nil
	}
	_, resident := s.Resident()
	var unknown []string
	for i, f := range a.order {
		there, path := true, f.Path.String()
		switch {
		case f.Path.Equal(raw.ByID.Path):
		case restricted:
			there, err = found(selected.Narrow(ctx, filter.Has(path), view.Uncounted))
		case resident:
			there, err = s.Has(ctx, f.Path)
		default:
			there, err = found(s.Select(ctx, filter.Has(path)))
			if !there {
				unknown = append(unknown, path)
			}
		}
		if err == nil && there && !resident && a.nested != nil {
			err = shown(selected.Narrow(ctx, a.nested[i], view.Uncounted))
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

// found reports whether a selection has a row.
func found(rows view.Selection, err error) (bool, error) { return err == nil && rows.Count() > 0, err }

// shown returns an error if there are rows whose values have fields of their own: the store sorts them as they are
// stored, and the order would say something about those that are hidden. Rows in memory lack these.
func shown(rows view.Selection, err error) error {
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
