package view

import "iter"

// Run is the fragments of some consecutive rows, one piece of memory.
type Run struct {
	seg      *segment
	frags    *fragments
	from, to int // rows of the segment, of one block
}

// Text returns the fragments, one after the other. It is shared and must not be changed.
func (r Run) Text() []byte { return r.frags.run(r.from, r.to) }

// Runs yields the fragments of that name of the selected rows, in the view's order
// and in as few pieces as may be. The name is that of a whole fragment, not of a
// part; another is a programming mistake and panics.
func (s *Selection) Runs(name string) iter.Seq[Run] {
	kind := s.snap.whole(name)
	return func(yield func(Run) bool) {
		for from, to := range s.stretches() {
			for from < to {
				seg, local := s.snap.locate(from)
				end := min(local+int(to-from), len(seg.rows), (local/blockRows+1)*blockRows)
				if !yield(Run{seg, seg.prepared(kind, s.snap.def), local, end}) {
					return
				}
				from += Slot(end - local)
			}
		}
	}
}

// whole returns the kind of a fragment that is no part of another.
func (s *Snapshot) whole(name string) int {
	at := s.place(name)
	if s.def.Fragments[at.kind].Name != name {
		panic("view " + s.def.Name + ": fragment " + name + " is a part")
	}
	return at.kind
}

// stretches yields the selected rows in the view's order as ranges of consecutive
// slots, each from a slot up to another.
func (s *Selection) stretches() iter.Seq2[Slot, Slot] {
	return func(yield func(from, to Slot) bool) {
		if s.snap.order == nil {
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
			if slot != to && from < to {
				if !yield(from, to) {
					return
				}
				from = slot
			} else if from == to {
				from = slot
			}
			to = slot + 1
		}
		if from < to {
			yield(from, to)
		}
	}
}
