package index

import (
	"iter"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// Row is a row of a snapshot.
type Row struct {
	Snap *Snapshot
	Slot Slot
}

// Doc returns the row's document.
func (r Row) Doc() bson.Raw { return r.Snap.Doc(r.Slot) }

// Fragment returns the row's prepared piece of that name.
func (r Row) Fragment(name string) []byte { return r.Snap.Fragment(r.Slot, name) }

// AppendFragment appends the row's piece of that name to dst. Unlike Fragment it is for
// bulky ones, which are encoded anew where they are not kept. The name is that of a whole
// fragment.
func (r Row) AppendFragment(dst []byte, name string) []byte {
	seg, local := r.Snap.locate(r.Slot)
	kind := r.Snap.whole(name)
	return Run{seg, r.Snap.prepared(seg, kind), &r.Snap.def.Fragments[kind], local, local + 1}.Append(dst)
}

// Rows yields up to limit selected rows after skipping offset; a limit of 0 or less
// means all. They come in the view's order, or in that of By.
func (s *Selection) Rows(offset, limit int) iter.Seq[Row] {
	return func(yield func(Row) bool) {
		if offset <= 0 && limit <= 0 {
			for slot := range s.All() {
				if !yield(Row{s.snap, slot}) {
					return
				}
			}
			return
		}
		for _, slot := range s.Page(offset, limit) {
			if !yield(Row{s.snap, slot}) {
				return
			}
		}
	}
}

// By returns the selection in an order, ties by _id; nil is the view's own order.
func (s *Selection) By(order raw.Sort) *Selection {
	if order == nil {
		return s
	}
	by := *s
	by.sorted = s.sort(order)
	return &by
}

// sort puts the selected rows in an order.
func (s *Selection) sort(order raw.Sort) []Slot {
	slots := s.Page(0, 0)
	docs := make([]bson.Raw, len(slots))
	for i, slot := range slots {
		docs[i] = s.snap.Doc(slot)
	}
	sorted := make([]Slot, len(slots))
	for i, at := range rank(order, docs).sorted() {
		sorted[i] = slots[at]
	}
	return sorted
}
