package view

import (
	"context"
	"iter"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/filter"
	"vitrine/rules/raw"
)

// Row is a row where it can be read: in the snapshot that was asked, or, of a view
// that stays in the store, in a small one of its own.
type Row struct {
	Snap *Snapshot
	Slot Slot
}

// Doc returns the row's document.
func (r Row) Doc() bson.Raw { return r.Snap.Doc(r.Slot) }

// Rows yields up to limit selected rows after skipping offset; a limit of 0 or less
// means all. They come in the view's order, or in that of By. A row of a view in
// the store is to be let go of soon: it keeps those around it. The error is that of
// the store, *MovedError among them, and ends the rows.
func (s *Selection) Rows(ctx context.Context, offset, limit int) iter.Seq2[Row, error] {
	if s.stored != nil {
		return s.stored.rows(ctx, offset, limit)
	}
	return func(yield func(Row, error) bool) {
		if offset <= 0 && limit <= 0 {
			for slot := range s.All() {
				if !yield(Row{s.snap, slot}, nil) {
					return
				}
			}
			return
		}
		for _, slot := range s.Page(offset, limit) {
			if !yield(Row{s.snap, slot}, nil) {
				return
			}
		}
	}
}

// First returns the first row that a filter selects, nil if there is none.
func (s *Snapshot) First(ctx context.Context, f *filter.Filter) (bson.Raw, error) {
	selected, err := s.selection(ctx, f)
	if err != nil {
		return nil, err
	}
	for row, err := range selected.Rows(ctx, 0, 1) {
		if err != nil {
			return nil, err
		}
		return row.Doc(), nil
	}
	return nil, nil
}

// By returns the selection in an order, ties by _id; nil is the view's own order.
func (s *Selection) By(order raw.Sort) *Selection {
	switch {
	case order == nil:
		return s
	case s.stored != nil:
		return s.storedBy(order)
	}
	by := *s
	by.sorted = s.sort(order)
	return &by
}

// Only returns the selection for someone who asks its rows for a few top-level fields
// and _id: of a view in the store no others are read.
func (s *Selection) Only(fields ...string) *Selection {
	if s.stored == nil {
		return s
	}
	only, sel := *s, *s.stored
	sel.fields = fields
	only.stored = &sel
	return &only
}

// sort puts the selected rows in an order.
func (s *Selection) sort(order raw.Sort) []Slot {
	slots := s.Page(0, 0)
	docs := make([]bson.Raw, len(slots))
	for i, slot := range slots {
		docs[i] = s.snap.Doc(slot)
	}
	sorted := make([]Slot, len(slots))
	for i, at := range rank(order, docs).sorted() {
		sorted[i] = slots[at]
	}
	return sorted
}
