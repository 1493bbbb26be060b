package index

import (
	"iter"
	"slices"

	"github.com/bits-and-blooms/bitset"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Slot is a row's place in one snapshot. It means nothing in another.
type Slot uint32

// Snapshot is the rows of a view at one generation. It is immutable and shared:
// callers must not change what it returns.
type Snapshot struct {
	def     *Definition
	budget  *Budget
	foreign Foreign // nil: filters that memory does not evaluate are refused

	segments []*segment
	bases    []Slot         // bases[i] is the first slot of segments[i]
	size     int            // slots, dead ones included
	live     *bitset.BitSet // slots whose row is current
	count    int            // live slots
	rowBytes int64          // BSON held, dead rows included
	order    []Slot         // live slots in the view's order; nil when that is 0, 1, 2 …
}

// Len returns the number of rows.
func (s *Snapshot) Len() int { return s.count }

// RowBytes returns the bytes of BSON held, those of replaced rows included.
func (s *Snapshot) RowBytes() int64 { return s.rowBytes }

// Segments returns the number of segments.
func (s *Snapshot) Segments() int { return len(s.segments) }

// Docs yields the rows in the view's order.
func (s *Snapshot) Docs() iter.Seq[bson.Raw] {
	return func(yield func(bson.Raw) bool) {
		for slot := range s.inOrder() {
			if !yield(s.Doc(slot)) {
				return
			}
		}
	}
}

// Doc returns the row's document.
func (s *Snapshot) Doc(slot Slot) bson.Raw {
	seg, local := s.locate(slot)
	return seg.rows[local]
}

// Fragment returns the row's prepared piece of that name, encoded once per row
// version. A name the view's Definition lacks is a programming mistake and panics.
func (s *Snapshot) Fragment(slot Slot, name string) []byte {
	seg, local := s.locate(slot)
	at := s.place(name)
	return seg.prepared(at.kind).of(local, at.from, at.to)
}

func (s *Snapshot) place(name string) place {
	at, ok := s.def.places[name]
	if !ok {
		panic("view " + s.def.Name + " has no fragment " + name)
	}
	return at
}

func (s *Snapshot) locate(slot Slot) (*segment, int) {
	i := len(s.bases) - 1
	for i > 0 && s.bases[i] > slot {
		i--
	}
	return s.segments[i], int(slot - s.bases[i])
}

// inOrder yields every live slot in the view's order.
func (s *Snapshot) inOrder() iter.Seq[Slot] {
	if s.order != nil {
		return slices.Values(s.order)
	}
	return func(yield func(Slot) bool) {
		for slot := Slot(0); int(slot) < s.size && yield(slot); slot++ {
		}
	}
}
