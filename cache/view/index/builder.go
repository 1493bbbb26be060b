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
//
// A builder goes through Load (the whole view is read), then any number of times Prepare and Apply (a delta), and
// Drop when the view is no longer in memory. The tables that it has made stay valid: requests may still read them.
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
// evaluate. The views of a Set share the budget.
func NewBuilder(def Definition, b *Budget) *Builder {
	def.places = places(def.Fragments)
	return &Builder{def: &def, budget: b, none: &Table{def: &def}}
}

// Load makes a table of rows in any order. The builder keeps the rows, and the caller does not change them any
// more.
func (b *Builder) Load(rows []bson.Raw) *Table {
	b.last, b.slots = b.compact(rows), nil
	return b.last
}

// Prepare makes Apply ready for the last table, which takes long after Load. Apply calls it itself. A caller that
// calls it after a table is shown, when no client waits, makes the first Apply quick.
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
//
// Changes of one id must not come twice. Apply sets Old of each change, for callers that compare both versions of a
// row.
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
	// waste counts the dead rows, and the rows outside the first segment, which queries read beside it.
	switch waste := b.last.size - alive + b.last.size - first; {
	case waste > minWaste && waste > first/wasteShare:
		return b.fold(0)
	case len(b.last.segments) > maxSegments:
		return b.fold(1)
	}
	return b.last
}

// Fold rebuilds the last table without the replaced rows. The caller does so when the replaced rows might make the
// view too large for its budget.
func (b *Builder) Fold() *Table {
	if b.last.size == b.last.count {
		return b.last
	}
	return b.fold(0)
}

// Drop forgets the last table. The next table must come from Load.
func (b *Builder) Drop() { b.last, b.slots = nil, nil }

// Row returns a Row for a document that is not in memory. It is the only method for any goroutine: it reads only
// the definition. Views in the store use it.
func (b *Builder) Row(doc bson.Raw) Row { return Row{Table: b.none, doc: &doc} }

// tableOf returns a table of segments. The caller sets live, count and order. It counts the bytes of dead rows too,
// since they stay in memory as long as their segment.
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

// newSegment returns a segment of sorted rows, from which nothing is derived yet.
func (b *Builder) newSegment(rows []bson.Raw) *segment {
	return &segment{budget: b.budget, def: b.def, files: b.Files, rows: rows,
		frags: make([]fragments, len(b.def.Fragments)), nap: fair.Rest(), workers: runtime.GOMAXPROCS(0)}
}

// compact makes a table with one segment from rows in any order. It sorts positions instead of rows, and then
// copies the slice headers once.
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

// extend adds a segment with the changed rows and merges them into the order of the rows that are still live. The
// caller has removed the replaced rows from live and from slots. A change that only deletes rows needs no segment.
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
// are still live. For each added row it compares only log(n) rows. A linear merge would read the keys of every row,
// and most of the rows may be in mapped files.
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
//
// The first segment is the large one. With keep at 1, only the small ones behind it are folded, and the values
// derived from the first one stay.
func (b *Builder) fold(keep int) *Table {
	s := b.last
	from := s.bases[keep]
	// Renumber: rows of kept segments keep their slots, and the others follow in the view's order.
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
	// The rows move into one new file, so that the files of the folded segments are unmapped with their last
	// request.
	mapped.Move(b.Files, rows)
	folded := b.newSegment(rows)
	next := b.tableOf(append(slices.Clone(s.segments[:keep]), folded))
	next.live = bitset.New(uint(next.size))
	for _, slot := range order {
		next.live.Set(uint(slot))
	}
	next.count = len(order)
	// With keep at 0 the slots are in the view's order themselves, which a nil order says.
	if keep > 0 {
		next.order = order
	}
	for i, row := range rows {
		b.slots[raw.Key(raw.ByID.Key(row))] = from + Slot(i)
	}
	b.last = next
	return next
}
