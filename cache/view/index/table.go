package index

import (
	"iter"
	"slices"

	"github.com/bits-and-blooms/bitset"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/lru"
)

// Slot is a row's position in one table. It is meaningless in another.
type Slot uint32

// Table is the rows of a view at one generation. It is immutable and shared: callers must not change what it returns.
//
// A request reads one table from its beginning to its end, so that its counts, pages and groups agree with each
// other even if a refresh replaces the table meanwhile.
type Table struct {
	def    *Definition
	budget *Budget

	segments []*segment
	bases    []Slot         // bases[i] is the first slot of segments[i]
	size     int            // number of slots, including dead ones
	live     *bitset.BitSet // slots whose row is current
	count    int            // live slots
	rowBytes int64          // bytes of BSON, including dead rows
	order    []Slot         // live slots in the view's order; nil if that is 0, 1, 2 …
}

// Len returns the number of rows.
func (t *Table) Len() int { return t.count }

// RowBytes returns the bytes of BSON, including replaced rows.
func (t *Table) RowBytes() int64 { return t.rowBytes }

// Segments returns the number of segments. It is a number for operators: more segments make queries slower, until
// they are folded.
func (t *Table) Segments() int { return len(t.segments) }

// Docs yields the rows in the view's order.
func (t *Table) Docs() iter.Seq[bson.Raw] {
	return func(yield func(bson.Raw) bool) {
		for slot := range t.inOrder() {
			if !yield(t.Doc(slot)) {
				return
			}
		}
	}
}

// Doc returns the row's document. The document may lie in a mapped file: the caller copies what it needs for longer
// than its request.
func (t *Table) Doc(slot Slot) bson.Raw {
	seg, local := t.locate(slot)
	return seg.rows[local]
}

// Fragment returns the row's fragment with a name. It is encoded for the caller until many of its neighbours were
// read; a bulky one until PrepareSome comes to the row. It panics if the view's Definition lacks the name.
func (t *Table) Fragment(slot Slot, name string) []byte {
	seg, local := t.locate(slot)
	return seg.fragment(t.place(name), local)
}

// place returns where a fragment is. A missing name is a mistake of the program, not of a client, hence the panic.
func (t *Table) place(name string) place {
	at, ok := t.def.places[name]
	if !ok {
		panic("view " + t.def.Name + " has no fragment " + name)
	}
	return at
}

// locate returns the segment of a slot, and the row's position in it. There are only a few segments, so it looks at
// one after the other.
func (t *Table) locate(slot Slot) (*segment, int) {
	i := len(t.bases) - 1
	for i > 0 && t.bases[i] > slot {
		i--
	}
	return t.segments[i], int(slot - t.bases[i])
}

// inOrder yields every live slot in the view's order. A nil order implies that there is one segment without dead
// rows.
func (t *Table) inOrder() iter.Seq[Slot] {
	if t.order != nil {
		return slices.Values(t.order)
	}
	return func(yield func(Slot) bool) {
		for slot := Slot(0); int(slot) < t.size && yield(slot); slot++ {
		}
	}
}

// ReplacedBy drops the values derived from segments that the next table, which may be nil, does not share.
//
// Requests that still read the replaced segments derive values into ownValues from then on: in the budget these
// values would push out those of the current table, and keep the segment's rows in memory after its last request.
func (t *Table) ReplacedBy(next *Table) {
	var kept []*segment
	if next != nil {
		kept = next.segments
	}
	b := t.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	for key := range b.values.All() {
		if slices.Contains(t.segments, key.segment) && !slices.Contains(kept, key.segment) {
			b.dropLocked(key)
		}
	}
	for _, seg := range t.segments {
		if !slices.Contains(kept, seg) {
			b.bulk -= seg.bulk
			seg.bulk, seg.ownValues = 0, lru.New[derivedKey, derivedOf](0)
		}
	}
}

// Indexes returns the number of indexed paths, and the bytes of everything derived from the rows. It is for
// operators and metrics. The bytes include values that are no indexes, such as verdicts.
func (t *Table) Indexes() (paths int, bytes int64) {
	t.budget.mu.Lock()
	defer t.budget.mu.Unlock()
	for key, d := range t.budget.values.All() {
		if slices.Contains(t.segments, key.segment) {
			bytes += d.bytes
			if key.isIndex() {
				paths++
			}
		}
	}
	return paths, bytes
}

// Row is a row of a table, or a document with the fragments of the table's rows.
type Row struct {
	Table *Table
	Slot  Slot
	doc   *bson.Raw // replaces the document at Slot unless it is nil
}

// With returns the row with another document, from which its fragments are made. Fields that an answer adds or
// removes in a document change its fragments, too.
func (r Row) With(doc bson.Raw) Row { return Row{r.Table, r.Slot, &doc} }

// Doc returns the row's document. It must not be changed.
func (r Row) Doc() bson.Raw {
	if r.doc != nil {
		return *r.doc
	}
	return r.Table.Doc(r.Slot)
}

// Fragment returns the row's fragment with a name. A row with a document of its own encodes the parts each time.
func (r Row) Fragment(name string) []byte {
	if r.doc == nil {
		return r.Table.Fragment(r.Slot, name)
	}
	var text []byte
	at := r.Table.place(name)
	for _, part := range r.Table.def.Fragments[at.number].parts()[at.from:at.to] {
		text = part.Encode(text, *r.doc)
	}
	return text
}
