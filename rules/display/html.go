package display

import (
	"bytes"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"vitrine/rules/markup"
	"vitrine/rules/raw"
)

// holdsHTML lists the stored fields with markup: those that the rendering rules declare,
// and similar ones of other collections. All other stored strings are text.
var holdsHTML = map[string]bool{
	"title": true, "subtitle": true, "book": true, "journal": true, "series": true, "conference": true, "event": true,
	"abstract": true, "title_full": true, "description": true,
}

// Stored returns the value of a stored field as the API sends it: unchanged, except that
// fields with markup lose the markup beyond the allow-list (DESIGN.md: 14).
func Stored(field string, v bson.RawValue) bson.RawValue {
	if !holdsHTML[field] {
		return v
	}
	return clean(v)
}

// StoredRecord applies Stored to every field of a record. It returns doc itself if
// nothing changes, which is the usual case.
func StoredRecord(doc bson.Raw) bson.Raw {
	elements, _ := doc.Elements() // of a broken document, what can be read
	for i, e := range elements {
		if holdsHTML[e.Key()] && bytes.IndexByte(e.Value().Value, '<') >= 0 {
			return record(elements, i)
		}
	}
	return doc
}

// record builds a record of elements. Only those from index from on may change.
func record(elements []bson.RawElement, from int) bson.Raw {
	b := bsoncore.NewDocumentBuilder()
	for i, e := range elements {
		v := e.Value()
		if i >= from {
			v = Stored(e.Key(), v)
		}
		b.AppendValue(e.Key(), bsoncore.Value{Type: bsoncore.Type(v.Type), Data: v.Value})
	}
	return bson.Raw(b.Build())
}

// clean applies the allow-list to every string in a value.
func clean(v bson.RawValue) bson.RawValue {
	if bytes.IndexByte(v.Value, '<') < 0 {
		return v
	}
	switch v.Type {
	case bson.TypeString:
		s, _ := v.StringValueOK()
		return raw.NewString(markup.Stored(s))
	case bson.TypeArray, bson.TypeEmbeddedDocument:
		elements, _ := bson.Raw(v.Value).Elements() // of a broken one, what can be read
		b := bsoncore.NewDocumentBuilder()
		for _, e := range elements {
			kept := clean(e.Value())
			b.AppendValue(e.Key(), bsoncore.Value{Type: bsoncore.Type(kept.Type), Data: kept.Value})
		}
		return bson.RawValue{Type: v.Type, Value: b.Build()}
	}
	return v
}
