package index

import (
	"context"
	"iter"
	"math"
)

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
