package index

import "go.mongodb.org/mongo-driver/v2/bson"

// Row is a row of a table, or a document with the fragments of the table's rows.
type Row struct {
	Table *Table
	Slot  Slot
	doc   *bson.Raw // replaces the document at Slot unless it is nil
}

// With returns the row with another document, from which its fragments are made.
func (r Row) With(doc bson.Raw) Row { return Row{r.Table, r.Slot, &doc} }

// Doc returns the row's document.
func (r Row) Doc() bson.Raw {
	if r.doc != nil {
		return *r.doc
	}
	return r.Table.Doc(r.Slot)
}

// Fragment returns the row's fragment with a name.
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
