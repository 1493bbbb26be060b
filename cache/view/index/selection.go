package index

import (
	"context"
	"iter"
	"slices"

	"github.com/bits-and-blooms/bitset"

	"vitrine/cache/fair"
	"vitrine/rules/filter"
)

// Selection is the set of a snapshot's rows that a filter selects. It is
// immutable.
type Selection struct {
	snap  *Snapshot
	rows  *bitset.BitSet // live slots only
	count int

	sorted []Slot // the rows in another order than the view's; nil: in that

	titles []*bitset.BitSet // per term searched, the rows with the term in their title
}

// Select evaluates a filter. The error is the context's, or that of an expression
// that ran out of time (kind rules.ErrWrongCall).
func (s *Snapshot) Select(ctx context.Context, f *filter.Filter) (*Selection, error) {
	rows, err := s.eval(ctx, fair.Bound(ctx, f).Root(), s.live)
	if err != nil {
		return nil, err
	}
	rows.InPlaceIntersection(s.live)
	return &Selection{snap: s, rows: rows, count: int(rows.Count())}, nil
}

// Narrow returns the rows of the selection that a filter selects, too. Its error is that of
// Select.
func (s *Selection) Narrow(ctx context.Context, f *filter.Filter) (*Selection, error) {
	rows, err := s.snap.eval(ctx, fair.Bound(ctx, f).Root(), s.rows)
	if err != nil {
		return nil, err
	}
	rows.InPlaceIntersection(s.rows)
	narrow := *s
	narrow.rows = rows
	narrow.retain()
	return &narrow, nil
}

// retain brings the count and the order up to date with rows, of which some were removed.
func (s *Selection) retain() {
	s.count = int(s.rows.Count())
	if s.sorted != nil {
		s.sorted = slices.DeleteFunc(slices.Clone(s.sorted), func(slot Slot) bool { return !s.rows.Test(uint(slot)) })
	}
}

// Count returns the number of rows selected.
func (s *Selection) Count() int { return s.count }

// All yields the selected rows in the view's order or that of By.
func (s *Selection) All() iter.Seq[Slot] {
	if s.sorted != nil {
		return slices.Values(s.sorted)
	}
	return func(yield func(Slot) bool) {
		if s.snap.order == nil {
			for slot, ok := s.rows.NextSet(0); ok; slot, ok = s.rows.NextSet(slot + 1) {
				if !yield(Slot(slot)) {
					return
				}
			}
			return
		}
		left := s.count
		for _, slot := range s.snap.order {
			if left == 0 {
				return
			}
			if s.rows.Test(uint(slot)) {
				left--
				if !yield(slot) {
					return
				}
			}
		}
	}
}

// Page is All of up to limit rows after skipping offset. A
// limit of 0 or less means all; an offset past the end gives an empty page.
func (s *Selection) Page(offset, limit int) []Slot {
	offset = max(offset, 0)
	if offset >= s.count {
		return nil
	}
	n := s.count - offset
	if limit > 0 {
		n = min(n, limit)
	}
	if s.sorted != nil {
		return s.sorted[offset : offset+n]
	}
	page := make([]Slot, 0, n)
	if s.snap.order == nil { // slots are in order: the first is found by counting bits
		for slot, ok := s.rows.Select(uint(offset)), true; ok && len(page) < n; slot, ok = s.rows.NextSet(slot + 1) {
			page = append(page, Slot(slot))
		}
		return page
	}
	for slot := range s.All() {
		if offset > 0 {
			offset--
			continue
		}
		page = append(page, slot)
		if len(page) == n {
			break
		}
	}
	return page
}
