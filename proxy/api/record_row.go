package api

import (
	"bytes"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view/index"
	"vitrine/proxy/query"
	"vitrine/rules/display"
	"vitrine/rules/ejson"
)

// recordRow shows columns of stored records, as they are or rendered.
type recordRow struct {
	columns query.Columns
	// ownID: the stored id stands in for the generated one (DESIGN.md: 16).
	ownID bool
	style *display.Style // nil: values as stored
}

// key is canonical for what the row shows, and how.
func (r recordRow) key() string {
	how := "raw"
	if r.style != nil {
		how = r.style.Lang
	}
	return how + " " + r.columns.Key()
}

// append writes a row of a snapshot.
func (r recordRow) append(dst []byte, row index.Row) []byte {
	doc := row.Doc()
	return r.appendFields(dst, doc, func(name string) bson.RawValue { return doc.Lookup(name) })
}

// appendFields writes a row of a document. field looks its top-level fields up, and may
// return an element of an unwound array in place of the array. Missing fields are left
// out.
func (r recordRow) appendFields(dst []byte, doc bson.Raw, field func(string) bson.RawValue) []byte {
	dst = append(dst, '{')
	if !r.ownID {
		dst = append(ejson.AppendID(append(dst, `"id":`...), doc.Lookup("_id")), ',')
	}
	for _, c := range r.columns {
		v, ok := c.Project(field(c.Name))
		if !ok || c.Name == "id" && !r.ownID {
			continue
		}
		dst = append(ejson.AppendString(dst, c.Name), ':')
		switch {
		case r.style == nil:
			dst = ejson.Append(dst, display.Stored(c.Name, v))
		case c.Whole():
			dst = r.style.Append(dst, c.Name, v, doc)
		default: // a part shows itself, not the resolved name of the whole
			dst = r.style.Append(dst, c.Name, v, nil)
		}
		dst = append(dst, ',')
	}
	return append(bytes.TrimSuffix(dst, []byte{','}), '}')
}
