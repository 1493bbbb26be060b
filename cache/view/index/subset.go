package index

import (
	"context"
	"iter"
	"math"
	"slices"

	"github.com/bits-and-blooms/bitset"

	"vitrine/rules/filter"
	"vitrine/rules/raw"
)

// Subset has the rows of a table that a filter selects. It is immutable.
type Subset struct {
	table *Table
	rows  *bitset.BitSet // live slots only
	count int

	order  raw.Sort         // the order of By, which overrides levels; nil if there is none
	levels []*bitset.BitSet // the rows by relevance, the most relevant first; nil means the view's order

	titles []*bitset.BitSet // for each search term: the rows with the term in their title
}

// Select evaluates a filter. The error is the context's, or rules.ErrWrongCall for an expression that ran out of time.
func (t *Table) Select(ctx context.Context, f *filter.Filter) (*Subset, error) {
	rows, err := t.eval(ctx, f, t.live)
	if err != nil {
		return nil, err
	}
	return &Subset{table: t, rows: rows, count: int(rows.Count())}, nil
}

// Narrow returns the rows that also match another filter.
func (s *Subset) Narrow(ctx context.Context, f *filter.Filter) (*Subset, error) {
	rows, err := s.table.eval(ctx, f, s.rows)
	if err != nil {
		return nil, err
	}
	narrow := *s
	narrow.rows = rows
	narrow.retain()
	return &narrow, nil
}

// retain updates the count and the levels after rows were removed.
func (s *Subset) retain() {
	s.count = int(s.rows.Count())
	s.levels = slices.Clone(s.levels)
	for i, level := range s.levels {
		s.levels[i] = level.Intersection(s.rows)
	}
}

// Table returns the table that the rows are of.
func (s *Subset) Table() *Table { return s.table }

// Count returns the number of rows.
func (s *Subset) Count() int { return s.count }

// By returns the rows in an order, ties by _id; nil keeps their order.
func (s *Subset) By(order raw.Sort) *Subset {
	if order == nil {
		return s
	}
	by := *s
	by.order = order
	return &by
}

// Rows yields up to limit rows after skipping offset, in the view's order or the order of By or ByRelevance. A limit of
// 0 or less means all. The error is the context's.
func (s *Subset) Rows(ctx context.Context, offset, limit int) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		from, to := min(max(offset, 0), s.count), s.count
		if limit > 0 && limit < to-from {
			to = from + limit
		}
		row := func(slot Slot) bool { return yield(Row{Table: s.table, Slot: slot}, nil) }
		switch {
		case s.order != nil:
			if err := s.inOrder(ctx, from, to, row); err != nil {
				yield(Row{}, err)
			}
		case s.levels != nil:
			s.byLevel(from, to, row)
		default:
			s.between(from, to, row)
		}
	}
}

// All yields the selected rows in the view's order.
func (s *Subset) All() iter.Seq[Slot] {
	return func(yield func(Slot) bool) { s.between(0, s.count, yield) }
}

// between yields the rows of All in the range [from, to).
func (s *Subset) between(from, to int, yield func(Slot) bool) {
	switch {
	case from >= to:
	case s.table.order == nil: // slots are in the view's order: find the first by counting bits
		slot, ok := s.rows.Select(uint(from)), true
		for at := from; at < to && ok && yield(Slot(slot)); at++ {
			slot, ok = s.rows.NextSet(slot + 1)
		}
	default:
		at := 0
		for _, slot := range s.table.order {
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

// Runs yields the fragments with a name for the selected rows, in the view's order and in as few pieces as possible.
// The pieces are shared memory and must not be changed. The name must be that of a whole fragment, not of a part, or
// Runs panics. Bulky fragments must be prepared.
func (s *Subset) Runs(name string) iter.Seq[[]byte] {
	number := s.table.whole(name)
	return func(yield func([]byte) bool) {
		for from, to := range s.stretches() {
			for from < to {
				seg, local := s.table.locate(from)
				end := min(local+int(to-from), len(seg.rows), (local/blockRows+1)*blockRows)
				f := seg.fragments(number)
				if f.filling == nil {
					seg.encode(number, local/blockRows/groupBlocks)
				}
				if !yield(f.run(local, end)) {
					return
				}
				from += Slot(end - local)
			}
		}
	}
}

// whole returns the position of a fragment, and panics if it is a part of another.
func (t *Table) whole(name string) int {
	at := t.place(name)
	if t.def.Fragments[at.number].Name != name {
		panic("view " + t.def.Name + ": fragment " + name + " is a part")
	}
	return at.number
}

// Prepare encodes the fragments with a name if they are bulky, in the context's turn. It returns false if there is no
// room for them. The error is the context's cause.
func (t *Table) Prepare(ctx context.Context, fragment string) (bool, error) {
	return t.PrepareSome(ctx, fragment, math.MaxInt)
}

// PrepareSome is Prepare for about so many further rows of each segment, so that the first caller need not wait for all.
// Table.Fragment encodes the fragments of other rows for its caller.
func (t *Table) PrepareSome(ctx context.Context, fragment string, rows int) (bool, error) {
	number := t.whole(fragment)
	for _, seg := range t.segments {
		if !t.def.Fragments[number].Bulky {
			return true, nil
		}
		if fits, err := seg.prepare(ctx, number, rows/blockRows); !fits || err != nil {
			return false, err
		}
	}
	return true, nil
}

// stretches yields the selected rows in the view's order as ranges of consecutive slots.
func (s *Subset) stretches() iter.Seq2[Slot, Slot] {
	return func(yield func(from, to Slot) bool) {
		if s.table.order == nil {
			for from, ok := s.rows.NextSet(0); ok; {
				to, found := s.rows.NextClear(from)
				if !found {
					to = s.rows.Len()
				}
				if !yield(Slot(from), Slot(to)) {
					return
				}
				from, ok = s.rows.NextSet(to)
			}
			return
		}
		var from, to Slot
		for slot := range s.All() {
			if slot != to {
				if from < to && !yield(from, to) {
					return
				}
				from = slot
			}
			to = slot + 1
		}
		if from < to {
			yield(from, to)
		}
	}
}
