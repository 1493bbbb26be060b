package index

import (
	"cmp"
	"context"
	"iter"
	"math"
	"slices"

	"github.com/bits-and-blooms/bitset"

	"vitrine/cache/fair"
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

// Select evaluates a filter. The error is the context's, or rules.ErrWrongCall for an expression that ran out of
// time.
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
	if by.order = order; order.Equal(s.table.def.Order) { // the rows lie in it, or the table has it sorted
		by.order, by.levels = nil, nil
	}
	return &by
}

// Rows yields up to limit rows after skipping offset, in the view's order or the order of By or ByRelevance. A limit
// of 0 or less means all. It looks at the context's turn before each row, because what the caller makes of one may
// take long, and while it skips rows. The error is the context's.
func (s *Subset) Rows(ctx context.Context, offset, limit int) iter.Seq2[Row, error] {
	return fair.Checked(ctx, func(yield func(Row, error) bool) {
		from, to := min(max(offset, 0), s.count), s.count
		if limit > 0 && limit < to-from {
			to = from + limit
		}
		row := func(slot Slot) bool { return yield(Row{Table: s.table, Slot: slot}, nil) }
		var err error
		switch {
		case s.order != nil:
			err = s.inOrder(ctx, from, to, row)
		case s.levels != nil:
			err = s.byLevel(ctx, from, to, row)
		default:
			err = s.between(ctx, from, to, row)
		}
		if err != nil {
			yield(Row{}, err)
		}
	})
}

// between yields the rows in the range [from, to) of the view's order, until yield returns false. The error is the
// context's.
func (s *Subset) between(ctx context.Context, from, to int, yield func(Slot) bool) error {
	if from >= to {
		return nil
	}
	if s.table.order == nil { // slots are in the view's order: find the first by counting bits
		slot, ok := s.rows.Select(uint(from)), true
		for at := from; at < to && ok && yield(Slot(slot)); at++ {
			slot, ok = s.rows.NextSet(slot + 1)
		}
		return nil
	}
	at, pace := 0, fair.Pace(ctx)
	for _, slot := range s.table.order {
		if err := pace(); err != nil {
			return err
		}
		if !s.rows.Test(uint(slot)) {
			continue
		}
		if at++; at > from && !yield(slot) || at == to {
			break
		}
	}
	return nil
}

// Runs yields the fragments with a name for the selected rows, in the view's order or that of By, and in as few
// pieces as possible. The pieces are shared memory and must not be changed. The name must be that of a whole fragment,
// not of a part, or Runs panics. Bulky fragments must be prepared. The error is the context's.
func (s *Subset) Runs(ctx context.Context, name string) iter.Seq2[[]byte, error] {
	number := s.table.whole(name)
	return func(yield func([]byte, error) bool) {
		turn, pace := fair.TurnOf(ctx), fair.Pace(ctx)
		err := s.stretches(ctx, func(from, to Slot) bool {
			for from < to {
				seg, local := s.table.locate(from)
				end := min(local+int(to-from), len(seg.rows), (local/blockRows+1)*blockRows)
				f, err := seg.fragments(number), pace()
				if f.filling == nil && !f.has(local/blockRows) {
					seg.encode(number, local/blockRows/groupBlocks)
					err = cmp.Or(err, turn.Check(ctx)) // encoding a group takes some milliseconds
				}
				if err != nil {
					yield(nil, err)
					return false
				}
				if !yield(f.run(local, end), nil) {
					return false
				}
				from += Slot(end - local)
			}
			return true
		})
		if err != nil {
			yield(nil, err)
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

// PrepareSome is Prepare for about so many further rows of each segment, so that the first caller need not wait for
// all. Table.Fragment encodes the fragments of other rows for its caller.
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

// stretches yields the selected rows in the view's order, or that of By, as ranges of consecutive slots. The error is
// the context's. It reads the segments' own orders however few rows are selected: fragments are prepared for requests
// that come again, and none of those shall sort.
func (s *Subset) stretches(ctx context.Context, yield func(from, to Slot) bool) error {
	if s.order == nil && s.table.order == nil {
		for from, ok := s.rows.NextSet(0); ok; {
			to, found := s.rows.NextClear(from)
			if !found {
				to = s.rows.Len()
			}
			if !yield(Slot(from), Slot(to)) {
				return nil
			}
			from, ok = s.rows.NextSet(to)
		}
		return nil
	}
	ordered := s.between
	if s.order != nil {
		ordered = s.merged
	}
	var from, to Slot
	more := true
	err := ordered(ctx, 0, s.count, func(slot Slot) bool {
		if slot != to {
			if more = from == to || yield(from, to); !more {
				return false
			}
			from = slot
		}
		to = slot + 1
		return true
	})
	if err == nil && more && from < to {
		yield(from, to)
	}
	return err
}
