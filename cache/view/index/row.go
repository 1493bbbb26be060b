package index

import (
	"context"
	"iter"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// Row is a row of a snapshot.
type Row struct {
	Snap *Snapshot
	Slot Slot
	doc  *bson.Raw // stands in for that of the snapshot, unless it is nil
}

// With returns the row with another document. Its pieces are made of that; it has no bulky ones.
func (r Row) With(doc bson.Raw) Row { return Row{r.Snap, r.Slot, &doc} }

// Doc returns the row's document.
func (r Row) Doc() bson.Raw {
	if r.doc != nil {
		return *r.doc
	}
	return r.Snap.Doc(r.Slot)
}

// Fragment returns the row's prepared piece of that name.
func (r Row) Fragment(name string) []byte {
	if r.doc == nil {
		return r.Snap.Fragment(r.Slot, name)
	}
	var text []byte
	at := r.Snap.place(name)
	for _, part := range r.Snap.def.Fragments[at.kind].parts()[at.from:at.to] {
		text = part.Encode(text, *r.doc)
	}
	return text
}

// AppendFragment appends the row's piece of that name to dst. Unlike Fragment it is for
// bulky ones, which are encoded anew where they are not kept. The name is that of a whole
// fragment.
func (r Row) AppendFragment(dst []byte, name string) []byte {
	seg, local := r.Snap.locate(r.Slot)
	kind := r.Snap.whole(name)
	return Run{seg, kind, local, local + 1}.Append(dst)
}

// Rows implements Selection.
func (s *Resident) Rows(ctx context.Context, offset, limit int) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		from, to := s.page(offset, limit)
		row := func(slot Slot) bool { return yield(Row{Snap: s.snap, Slot: slot}, nil) }
		switch {
		case s.order != nil:
			if err := s.inOrder(ctx, from, to, row); err != nil {
				yield(Row{}, err)
			}
		case s.levels != nil:
			s.byLevel(from, to, row)
		default:
			s.between(from, to, row)
		}
	}
}

// By implements Selection.
func (s *Resident) By(order raw.Sort) Selection {
	if order == nil {
		return s
	}
	by := *s
	by.order = order
	return &by
}

// Only implements Selection.
func (s *Resident) Only(...string) Selection { return s }
