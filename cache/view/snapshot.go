package view

import (
	"time"

	"github.com/bits-and-blooms/bitset"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
)

// Slot is a row's place in one snapshot. It means nothing in another.
type Slot uint32

// Snapshot is a view at one generation, in memory or where it is stored. It is
// immutable and shared: whatever it hands out must not be changed.
type Snapshot struct {
	def     *Definition
	meta    origin.Meta
	loaded  time.Time
	budget  *budget
	foreign Foreign        // nil: filters that memory does not evaluate are refused
	store   origin.Queries // of a view whose rows stay in the store; the rest is empty then but for count

	segments []*segment
	bases    []Slot         // bases[i] is the first slot of segments[i]
	size     int            // slots, dead ones included
	live     *bitset.BitSet // slots whose row is current
	count    int            // live slots
	rowBytes int64          // BSON held, dead rows included
	order    []Slot         // live slots in the view's order; nil when that is 0, 1, 2 …
}

// Meta returns the view's meta at this generation.
func (s *Snapshot) Meta() origin.Meta { return s.meta }

// Loaded tells when this snapshot was made.
func (s *Snapshot) Loaded() time.Time { return s.loaded }

// Len returns the number of rows.
func (s *Snapshot) Len() int { return s.count }

// Stored reports whether the rows stay in the store. They are had by Selection.Rows
// then, and counted by Group; there are no runs.
func (s *Snapshot) Stored() bool { return s.store != nil }

// missing counts the rows of the generation that the store left out.
func (s *Snapshot) missing() int { return max(s.meta.Rows-s.count, 0) }

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
	return s.prepared(seg, at.kind).of(local, at.from, at.to)
}

func (s *Snapshot) prepared(seg *segment, kind int) *fragments {
	return seg.prepared(kind, &s.def.Fragments[kind], s.budget)
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

// newSnapshot lines segments up; the caller fills live, count and order.
func newSnapshot(def *Definition, b *budget, segments []*segment) *Snapshot {
	s := &Snapshot{def: def, budget: b, segments: segments, bases: make([]Slot, len(segments))}
	for i, seg := range segments {
		s.bases[i] = Slot(s.size)
		s.size += len(seg.rows)
	}
	return s
}

// compact makes a snapshot of one segment from rows in any order.
func compact(def *Definition, b *budget, rows []bson.Raw) *Snapshot {
	sorted := make([]bson.Raw, len(rows))
	for i, from := range rank(def.Order, rows).sorted() {
		sorted[i] = rows[from]
	}
	s := newSnapshot(def, b, []*segment{newSegment(b, sorted, len(def.Fragments))})
	s.live = bitset.New(uint(s.size)).Complement()
	s.count = s.size
	s.rowBytes = s.countRowBytes()
	return s
}

func (s *Snapshot) countRowBytes() (bytes int64) {
	for _, seg := range s.segments {
		for _, row := range seg.rows {
			bytes += int64(len(row))
		}
	}
	return bytes
}

// inOrder yields every live slot in the view's order.
func (s *Snapshot) inOrder(yield func(Slot) bool) {
	if s.order == nil {
		for slot := range Slot(s.size) {
			if !yield(slot) {
				return
			}
		}
		return
	}
	for _, slot := range s.order {
		if !yield(slot) {
			return
		}
	}
}
