package proxy

import (
	"cmp"
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/rules/filter"
)

// newestFirst is the order of lists that API.md gives none: by year descending,
// ties by _id (DESIGN.md: 3).
func newestFirst() filter.Sort { return filter.Sort{{Path: mustPath("year"), Desc: true}} }

// idOrder is the order by _id alone.
func idOrder(descending bool) filter.Sort {
	return filter.Sort{{Path: mustPath("_id"), Desc: descending}}
}

// ordered selects the listed rows, whatever their page, in an order; nil is the
// view's own.
func (l listing) ordered(ctx context.Context, s *view.Snapshot, order filter.Sort) ([]view.Slot, error) {
	selected, err := s.Select(ctx, l.filter)
	if err != nil {
		return nil, err
	}
	if order == nil {
		return selected.Page(0, 0), nil
	}
	return sorted(s, selected, order), nil
}

// sorted puts selected rows in an order, ties by _id.
func sorted(s *view.Snapshot, selected *view.Selection, order filter.Sort) []view.Slot {
	order = append(slices.Clone(order), filter.SortField{Path: mustPath("_id")})
	slots := selected.Page(0, 0)
	keys := make([]bson.RawValue, 0, len(slots)*len(order)) // taken out once, not at each comparison
	rows := make([]int, len(slots))
	for i, slot := range slots {
		rows[i] = i
		for _, field := range order {
			keys = append(keys, field.Key(s.Doc(slot)))
		}
	}
	slices.SortFunc(rows, func(a, b int) int {
		for k, field := range order {
			if c := filter.CompareValues(keys[a*len(order)+k], keys[b*len(order)+k]); c != 0 {
				if field.Desc {
					return -c
				}
				return c
			}
		}
		return cmp.Compare(a, b)
	})
	inOrder := make([]view.Slot, len(slots))
	for i, row := range rows {
		inOrder[i] = slots[row]
	}
	return inOrder
}
