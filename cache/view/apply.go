package view

import (
	"slices"
	"sort"

	"github.com/bits-and-blooms/bitset"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
)

const (
	// maxSegments bounds how many segments a query has to ask.
	maxSegments = 8
	// minWaste and wasteShare say when a snapshot is folded into one segment: when
	// rows outside the first segment, dead or alive, are more than both.
	minWaste   = 1024
	wasteShare = 8 // one in eight
)

// apply makes the snapshot that follows cur from the newest versions of the rows
// that changed. It shares cur's segments, unless it is time to fold some.
func (v *view) apply(cur *Snapshot, changes []origin.Row) *Snapshot {
	live := cur.live.Clone()
	dead := bitset.New(uint(cur.size))
	var docs []bson.Raw
	for _, row := range changes {
		key := idKey(row.ID)
		if slot, ok := v.slots[key]; ok {
			live.Clear(uint(slot))
			dead.Set(uint(slot))
			delete(v.slots, key)
		}
		if row.Doc != nil {
			docs = append(docs, row.Doc)
		}
	}
	next := v.extend(cur, live, dead, docs)
	first := len(next.segments[0].rows)
	alive := int(next.live.Count())
	switch waste := next.size - alive + next.size - first; {
	case waste > minWaste && waste > first/wasteShare:
		return v.fold(next, 0)
	case len(next.segments) > maxSegments:
		return v.fold(next, 1)
	}
	return next
}

// extend adds one segment with the changed rows and merges them into the order.
func (v *view) extend(cur *Snapshot, live, dead *bitset.BitSet, docs []bson.Raw) *Snapshot {
	segments := cur.segments
	if len(docs) > 0 {
		fresh := compact(v.def, v.budget, docs).segments[0]
		segments = append(slices.Clone(cur.segments), fresh)
	}
	next := newSnapshot(v.def, v.budget, segments)
	next.live = bitset.New(uint(next.size))
	live.Copy(next.live)
	for slot := Slot(cur.size); slot < Slot(next.size); slot++ {
		next.live.Set(uint(slot))
		v.slots[idKey(idOf(next.Doc(slot)))] = slot
	}
	next.count = int(next.live.Count())
	next.order = mergeOrder(cur, next, dead)
	next.rowBytes = next.countRowBytes()
	return next
}

// mergeOrder merges the slots that next added, which are sorted among themselves,
// into cur's order without its dead ones. Only log(n) rows are compared per added row.
func mergeOrder(cur, next *Snapshot, dead *bitset.BitSet) []Slot {
	kept := make([]Slot, 0, next.count)
	cur.inOrder(func(slot Slot) bool {
		if !dead.Test(uint(slot)) {
			kept = append(kept, slot)
		}
		return true
	})
	added := next.size - cur.size
	if added == 0 {
		return kept
	}
	merged := make([]Slot, 0, next.count)
	from := 0
	for slot := Slot(cur.size); slot < Slot(next.size); slot++ {
		at := from + sort.Search(len(kept)-from, func(i int) bool {
			pair := rank(next.def.Order, []bson.Raw{next.Doc(kept[from+i]), next.Doc(slot)})
			return pair.compare(0, 1) > 0
		})
		merged = append(append(merged, kept[from:at]...), slot)
		from = at
	}
	return append(merged, kept[from:]...)
}

// fold makes one segment of all segments but the first keep: their live rows, in
// the view's order. Nothing is sorted again, and fragments that are encoded move
// along; what is derived from the kept segments stays.
func (v *view) fold(s *Snapshot, keep int) *Snapshot {
	from := Slot(s.size)
	if keep < len(s.segments) {
		from = s.bases[keep]
	}
	var moved []Slot // the slots whose rows move, in their new order
	order := make([]Slot, 0, s.count)
	s.inOrder(func(slot Slot) bool {
		if slot >= from {
			moved = append(moved, slot)
			slot = from + Slot(len(moved)-1)
		}
		order = append(order, slot)
		return true
	})
	rows := make([]bson.Raw, len(moved))
	for i, slot := range moved {
		rows[i] = s.Doc(slot)
	}
	folded := newSegment(v.budget, rows, len(v.def.Fragments))
	for kind := range v.def.Fragments {
		handOver(s, folded, kind, keep, moved)
	}
	next := newSnapshot(v.def, v.budget, append(slices.Clone(s.segments[:keep]), folded))
	next.live = bitset.New(uint(next.size))
	for _, slot := range order {
		next.live.Set(uint(slot))
	}
	next.count = len(order)
	if keep > 0 {
		next.order = order
	}
	next.rowBytes = next.countRowBytes()
	for i, row := range rows {
		v.slots[idKey(idOf(row))] = from + Slot(i)
	}
	return next
}

// handOver gives the folded segment the fragments of one kind, if all rows that
// moved into it have theirs; bulky ones are left to the next who asks. They are copied: otherwise one row kept would keep the
// block it came in.
func handOver(s *Snapshot, folded *segment, kind, keep int, moved []Slot) {
	if s.def.Fragments[kind].Bulky {
		return
	}
	for _, seg := range s.segments[keep:] {
		if !seg.frags[kind].ready.Load() {
			return
		}
	}
	parts := len(s.def.Fragments[kind].parts())
	folded.frags[kind].once.Do(func() {
		folded.frags[kind].fill(len(moved), parts, func(dst []byte, row, part int) []byte {
			seg, local := s.locate(moved[row])
			return append(dst, seg.frags[kind].of(local, part, part+1)...)
		}, always)
	})
}

// slotsOf lists a compact snapshot's rows by id.
func slotsOf(s *Snapshot) map[string]Slot {
	slots := make(map[string]Slot, s.size)
	for slot := range Slot(s.size) {
		slots[idKey(idOf(s.Doc(slot)))] = slot
	}
	return slots
}
