package index

import (
	"context"
	"iter"
)

// Run is the fragments of some consecutive rows, one after the other. There is one
// row at least.
type Run struct {
	seg      *segment
	kind     int // of the fragments
	from, to int // rows of the segment, of one block
}

// Len is how many bytes the fragments have.
func (r Run) Len() int { return r.seg.prepared(r.kind).size(r.from, r.to) }

// Text returns the fragments as they lie in memory: shared, and not to be changed.
// It is nil for bulky ones that are not kept.
func (r Run) Text() []byte { return r.seg.prepared(r.kind).run(r.from, r.to) }

// Append appends the fragments to dst.
func (r Run) Append(dst []byte) []byte {
	if text := r.Text(); text != nil {
		return append(dst, text...)
	}
	for _, row := range r.seg.rows[r.from:r.to] {
		dst = r.seg.def.Fragments[r.kind].Encode(dst, row)
	}
	return dst
}

// Rows yields the run row by row.
func (r Run) Rows() iter.Seq[Run] {
	return func(yield func(Run) bool) {
		for row := r; row.from < r.to; row.from++ {
			if row.to = row.from + 1; !yield(row) {
				return
			}
		}
	}
}

// Runs yields the fragments of that name of the selected rows, in the view's order
// and in as few pieces as may be. The name is that of a whole fragment, not of a
// part; another is a programming mistake and panics.
func (s *Subset) Runs(name string) iter.Seq[Run] {
	kind := s.table.whole(name)
	return func(yield func(Run) bool) {
		for from, to := range s.stretches() {
			for from < to {
				seg, local := s.table.locate(from)
				end := min(local+int(to-from), len(seg.rows), (local/blockRows+1)*blockRows)
				if !yield(Run{seg, kind, local, end}) {
					return
				}
				from += Slot(end - local)
			}
		}
	}
}

// whole returns the kind of a fragment that is no part of another.
func (t *Table) whole(name string) int {
	at := t.place(name)
	if t.def.Fragments[at.kind].Name != name {
		panic("view " + t.def.Name + ": fragment " + name + " is a part")
	}
	return at.kind
}

// Prepare encodes the fragments of that name if they are bulky, in the context's turn. Its error
// is the context's cause.
func (t *Table) Prepare(ctx context.Context, fragment string) error {
	kind := t.whole(fragment)
	for _, seg := range t.segments {
		if !t.def.Fragments[kind].Bulky {
			return nil
		}
		if err := seg.prepare(ctx, kind); err != nil {
			return err
		}
	}
	return nil
}

// stretches yields the selected rows in the view's order as ranges of consecutive
// slots, each from a slot up to another.
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
