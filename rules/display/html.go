package display

import (
	"bytes"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/ejson"
	"vitrine/rules/markup"
	"vitrine/rules/raw"
)

// holdsHTML lists the stored fields with markup: those that the rendering rules declare, and similar ones of other
// collections. All others are text.
var holdsHTML = map[string]bool{
	"title": true, "subtitle": true, "book": true, "journal": true, "series": true, "conference": true, "event": true,
	"abstract": true, "title_full": true, "description": true,
}

// Stored returns a stored value as the API sends it: markup reduced to the allow-list (docs/decisions.md: Which
// fields are HTML).
func Stored(field string, v bson.RawValue) bson.RawValue {
	if !holdsHTML[field] {
		return v
	}
	return clean(v)
}

// AppendRecord writes a row in the form in which the API sends whole records: without reserved fields, and with
// Stored applied to each field. It copies only fields that lose markup. It writes the readable part of a broken row.
func AppendRecord(dst []byte, row bson.Raw) []byte {
	dst = append(dst, '{')
	for e := range raw.All(row) {
		if !rules.Reserved(string(e.Key)) {
			dst = ejson.Append(ejson.AppendKey(dst, e.Key), Stored(string(e.Key), e.Value()))
		}
	}
	return append(dst, '}')
}

// clean applies the allow-list to every string in a value. It drops the unreadable rest of a broken document or
// array.
func clean(v bson.RawValue) bson.RawValue {
	if bytes.IndexByte(v.Value, '<') < 0 {
		return v
	}
	switch v.Type {
	case bson.TypeString:
		s, _ := v.StringValueOK()
		return raw.NewString(markup.Stored(s))
	case bson.TypeArray, bson.TypeEmbeddedDocument:
		var b raw.Builder
		b.Grow(len(v.Value))
		for e := range raw.All(v.Value) {
			b.Add(string(e.Key), clean(e.Value()))
		}
		return b.Finish(v.Type)
	}
	return v
}
