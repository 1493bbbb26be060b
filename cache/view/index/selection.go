package index

import (
	"context"
	"iter"
	"slices"

	"github.com/bits-and-blooms/bitset"

	"vitrine/rules/filter"
	"vitrine/rules/raw"
)

// Selection is the rows of a view that a filter selects, in memory or in the store. It is
// immutable.
type Selection interface {
	// Count returns the number of rows.
	Count() int
	// Rows yields up to limit rows after skipping offset; a limit of 0 or less means
	// all. They come in the view's order, or in that of By. A row of a view in the
	// store keeps those around it: callers should not hold it for long. The error is
	// that of the store, view.MovedError among them, and ends the rows.
	Rows(ctx context.Context, offset, limit int) iter.Seq2[Row, error]
	// Group counts the rows by a field's value, as Resident.Group does.
	Group(ctx context.Context, field, unwind string) ([]Group, error)
	// Search returns the rows that have all words, which fold.Terms made, the last one as the
	// beginning of a word; an empty word counts as found. The view's Definition must have Words.
	Search(ctx context.Context, terms []string) (Selection, error)
	// Narrow returns the rows that a filter selects, too.
	Narrow(ctx context.Context, f *filter.Filter) (Selection, error)
	// Facet counts the rows by the values at a path, as Resident.Facet does. Of a view in the
	// store a Sample may have the path's top-level field alone.
	Facet(ctx context.Context, path string) ([]Group, error)
	// By returns the selection in an order, ties by _id; nil is the view's own order.
	By(order raw.Sort) Selection
	// ByRelevance returns the selection of Search with the rows first that have the most
	// terms in their titles; ties are in the view's order.
	ByRelevance() Selection
	// Only returns the selection for a caller who reads only a few top-level fields and
	// _id of its rows: of a view in the store no others are read.
	Only(fields ...string) Selection
	// Prepared returns the fragments of that name as Resident.Runs does, after bulky ones
	// are prepared; nil if the rows are in the store, which prepares none.
	Prepared(ctx context.Context, fragment string) (iter.Seq[Run], error)
}

// Resident is a selection of the rows of a snapshot.
type Resident struct {
	snap  *Snapshot
	rows  *bitset.BitSet // live slots only
	count int

	order  raw.Sort         // that of By, which holds before that of levels; nil: none
	levels []*bitset.BitSet // the rows by relevance, the most relevant first; nil: in the view's order

	titles []*bitset.BitSet // per term searched, the rows with the term in their title
}

// Select evaluates a filter.
func (s *Snapshot) Select(ctx context.Context, f *filter.Filter) (*Resident, error) {
	rows, err := s.eval(ctx, f, s.live)
	if err != nil {
		return nil, err
	}
	return &Resident{snap: s, rows: rows, count: int(rows.Count())}, nil
}

// Narrow implements Selection.
func (s *Resident) Narrow(ctx context.Context, f *filter.Filter) (Selection, error) {
	rows, err := s.snap.eval(ctx, f, s.rows)
	if err != nil {
		return nil, err
	}
	narrow := *s
	narrow.rows = rows
	narrow.retain()
	return &narrow, nil
}

// retain brings the count and the levels up to date with rows, of which some were removed.
func (s *Resident) retain() {
	s.count = int(s.rows.Count())
	s.levels = slices.Clone(s.levels)
	for i, level := range s.levels {
		s.levels[i] = level.Intersection(s.rows)
	}
}

// Count implements Selection.
func (s *Resident) Count() int { return s.count }

// All yields the selected rows in the view's order.
func (s *Resident) All() iter.Seq[Slot] {
	return func(yield func(Slot) bool) { s.between(0, s.count, yield) }
}

// Page returns up to limit rows of All after skipping offset. A limit of 0 or less means
// all; an offset past the end gives an empty page.
func (s *Resident) Page(offset, limit int) []Slot {
	from, to := s.page(offset, limit)
	page := make([]Slot, 0, to-from)
	s.between(from, to, func(slot Slot) bool {
		page = append(page, slot)
		return true
	})
	return page
}

// page returns where a page begins and ends among all rows.
func (s *Resident) page(offset, limit int) (from, to int) {
	from, to = min(max(offset, 0), s.count), s.count
	if limit > 0 && limit < to-from {
		to = from + limit
	}
	return from, to
}

// between yields the rows of All from one up to another.
func (s *Resident) between(from, to int, yield func(Slot) bool) {
	switch {
	case from >= to:
	case s.snap.order == nil: // slots are in order: the first is found by counting bits
		slot, ok := s.rows.Select(uint(from)), true
		for at := from; at < to && ok && yield(Slot(slot)); at++ {
			slot, ok = s.rows.NextSet(slot + 1)
		}
	default:
		at := 0
		for _, slot := range s.snap.order {
			if at == to {
				return
			}
			if s.rows.Test(uint(slot)) {
				if at++; at > from && !yield(slot) {
					return
				}
			}
		}
	}
}
