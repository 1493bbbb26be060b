package index

import (
	"runtime"
	"slices"
	"sort"

	"github.com/bits-and-blooms/bitset"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/cache/view/mapped"
	"vitrine/rules/raw"
)

const (
	// maxSegments bounds how many segments a query reads.
	maxSegments = 8
	// minWaste and wasteShare say when a table is folded into one segment: when the rows outside the first segment,
	// live or dead, exceed both.
	minWaste   = 1024
	wasteShare = 8 // one in eight
)

// Change is the newest version of a row.
type Change struct {
	ID  bson.RawValue
	Doc bson.Raw // nil if the row is deleted
	Old bson.Raw // set by Apply: the row that was replaced or deleted; nil if there was none
}

// Builder makes the tables of one view, each from the previous one. Only one goroutine at a time may use all but Row.
type Builder struct {
	// Files has the rows and fragments that do not fit into memory well; nil means that all stay in memory.
	Files *mapped.Files

	def    *Definition
	budget *Budget
	none   *Table // a table without rows

	last  *Table          // nil if there is no table to continue from
	slots map[string]Slot // live rows of last by id; nil until Prepare
}

// NewBuilder returns a builder for a view. If foreign is nil, its tables refuse filters that memory does not
// evaluate.
func NewBuilder(def Definition, b *Budget) *Builder {
	def.places = places(def.Fragments)
	return &Builder{def: &def, budget: b, none: &Table{def: &def}}
}

// Load makes a table of rows in any order.
func (b *Builder) Load(rows []bson.Raw) *Table {
	b.last, b.slots = b.compact(rows), nil
	return b.last
}

// Prepare makes Apply ready for the last table, which takes long after Load.
func (b *Builder) Prepare() {
	if b.slots != nil {
		return
	}
	b.slots = make(map[string]Slot, b.last.size)
	for slot := range Slot(b.last.size) {
		b.slots[raw.Key(raw.ByID.Key(b.last.Doc(slot)))] = slot
	}
}

// Apply makes the table that follows the last one. It shares the last one's segments, unless it is time to fold some.
func (b *Builder) Apply(changes []Change) *Table {
	b.Prepare()
	live := b.last.live.Clone()
	var docs []bson.Raw
	for i, row := range changes {
		key := raw.Key(row.ID)
		if slot, ok := b.slots[key]; ok {
			changes[i].Old = b.last.Doc(slot)
			live.Clear(uint(slot))
			delete(b.slots, key)
		}
		if row.Doc != nil {
			docs = append(docs, row.Doc)
		}
	}
	b.extend(live, docs)
	first := len(b.last.segments[0].rows)
	alive := int(b.last.live.Count())
	switch waste := b.last.size - alive + b.last.size - first; {
	case waste > minWaste && waste > first/wasteShare:
		return b.fold(0)
	case len(b.last.segments) > maxSegments:
		return b.fold(1)
	}
	return b.last
}

// Fold rebuilds the last table without the replaced rows.
func (b *Builder) Fold() *Table {
	if b.last.size == b.last.count {
		return b.last
	}
	return b.fold(0)
}

// Drop forgets the last table.
func (b *Builder) Drop() { b.last, b.slots = nil, nil }

// Row returns a Row for a document that is not in memory.
func (b *Builder) Row(doc bson.Raw) Row { return Row{Table: b.none, doc: &doc} }

// tableOf returns a table of segments. The caller sets live, count and order.
func (b *Builder) tableOf(segments []*segment) *Table {
	s := &Table{def: b.def, budget: b.budget, segments: segments,
		bases: make([]Slot, len(segments))}
	for i, seg := range segments {
		s.bases[i] = Slot(s.size)
		s.size += len(seg.rows)
		for _, row := range seg.rows {
			s.rowBytes += int64(len(row))
		}
	}
	return s
}

func (b *Builder) newSegment(rows []bson.Raw) *segment {
	return &segment{budget: b.budget, def: b.def, files: b.Files, rows: rows,
		frags: make([]fragments, len(b.def.Fragments)), nap: fair.Rest(), workers: runtime.GOMAXPROCS(0)}
}

// compact makes a table with one segment from rows in any order.
func (b *Builder) compact(rows []bson.Raw) *Table {
	sorted := make([]bson.Raw, len(rows))
	r := rank(b.def.Order, rows).read()
	if !slices.IsSortedFunc(r.at, r.compare) { // as they are in a snapshot file
		r.sort(r.at, 0, 0, len(rows))
	}
	for i, from := range r.at {
		sorted[i] = rows[from]
	}
	s := b.tableOf([]*segment{b.newSegment(sorted)})
	s.live = bitset.New(uint(s.size)).Complement()
	s.count = s.size
	return s
}

// extend adds a segment with the changed rows and merges them into the order of the rows that are still live.
func (b *Builder) extend(live *bitset.BitSet, docs []bson.Raw) {
	cur := b.last
	segments := cur.segments
	if len(docs) > 0 {
		segments = append(slices.Clone(cur.segments), b.compact(docs).segments[0])
	}
	next := b.tableOf(segments)
	next.live = bitset.New(uint(next.size))
	live.Copy(next.live)
	for slot := Slot(cur.size); slot < Slot(next.size); slot++ {
		next.live.Set(uint(slot))
		b.slots[raw.Key(raw.ByID.Key(next.Doc(slot)))] = slot
	}
	next.count = int(next.live.Count())
	next.order = mergeOrder(cur, next)
	b.last = next
}

// mergeOrder merges the slots that next added, which are sorted among themselves, into the order of cur's slots that
// are still live. For each added row it compares only log(n) rows.
func mergeOrder(cur, next *Table) []Slot {
	kept := make([]Slot, 0, next.count)
	for slot := range cur.inOrder() {
		if next.live.Test(uint(slot)) {
			kept = append(kept, slot)
		}
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

// fold combines all segments of the last table except the first keep into one segment with their live rows, in the
// view's order. It sorts nothing again, and keeps the values derived from the kept segments.
func (b *Builder) fold(keep int) *Table {
	s := b.last
	from := s.bases[keep]
	var moved []Slot // the slots of the rows that move, in their new order
	order := make([]Slot, 0, s.count)
	for slot := range s.inOrder() {
		if slot >= from {
			moved = append(moved, slot)
			slot = from + Slot(len(moved)-1)
		}
		order = append(order, slot)
	}
	rows := make([]bson.Raw, len(moved))
	for i, slot := range moved {
		rows[i] = s.Doc(slot)
	}
	mapped.Move(b.Files, rows)
	folded := b.newSegment(rows)
	next := b.tableOf(append(slices.Clone(s.segments[:keep]), folded))
	next.live = bitset.New(uint(next.size))
	for _, slot := range order {
		next.live.Set(uint(slot))
	}
	next.count = len(order)
	if keep > 0 {
		next.order = order
	}
	for i, row := range rows {
		b.slots[raw.Key(raw.ByID.Key(row))] = from + Slot(i)
	}
	b.last = next
	return next
}
