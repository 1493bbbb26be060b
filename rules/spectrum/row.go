package spectrum

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"vitrine/rules/raw"
)

// row returns the row of a topic, with the fields of the API's description in its order, without share.
func (s *Summary) row(id string, t *topic) bson.Raw {
	start, dst := bsoncore.AppendDocumentStart(nil)
	dst = bsoncore.AppendStringElement(dst, "_id", id)
	dst = bsoncore.AppendStringElement(dst, "id", id)
	dst = bsoncore.AppendStringElement(dst, "catalog_url", strings.ReplaceAll(s.url, "{id}", url.PathEscape(id)))
	dst = appendStored(dst, t.labels, "name", "path", "domain", "field", "subfield")
	for _, key := range []string{"domain_id", "field_id", "subfield_id"} {
		dst = appendValue(dst, key, numeric(raw.Get(t.labels, key)))
	}
	dst = s.appendEnrichment(dst, id)
	dst = bsoncore.AppendInt64Element(dst, "count", int64(t.count))
	dst = appendList(dst, "timeline", slices.Sorted(maps.Keys(t.timeline)), func(dst []byte, year int64) []byte {
		dst = bsoncore.AppendInt64Element(dst, "year", year)
		return bsoncore.AppendInt64Element(dst, "count", int64(t.timeline[year]))
	})
	dst = appendList(dst, "units", t.units.top(), t.units.appendElements)
	dst = appendList(dst, "researchers", t.persons.top(), t.persons.appendElements)
	dst = appendList(dst, "activities", t.recent, appendEntry)
	return end(dst, start)
}

// end closes the document or array that began at start.
func end(dst []byte, start int32) []byte {
	dst, _ = bsoncore.AppendDocumentEnd(dst, start) // fails only if start is out of range
	return dst
}

// appendList appends an array with a document for each item; elements appends what is in it.
func appendList[T any](dst []byte, key string, items []T, elements func(dst []byte, item T) []byte) []byte {
	list, dst := bsoncore.AppendArrayElementStart(dst, key)
	for i, item := range items {
		start, open := bsoncore.AppendDocumentElementStart(dst, strconv.Itoa(i))
		dst = end(elements(open, item), start)
	}
	return end(dst, list)
}

// numeric converts text of digits into a number. Other values stay unchanged.
func numeric(v bson.RawValue) bson.RawValue {
	s := text(v)
	if s == "" || len(s) > 18 || strings.Trim(s, "0123456789") != "" {
		return v
	}
	n, _ := strconv.ParseInt(s, 10, 64) // 18 digits always fit
	return bson.RawValue{Type: bson.TypeInt64, Value: bsoncore.AppendInt64(nil, n)}
}

// share rounds the exact quotient to six decimals, halves up; a quotient of doubles may lie on either side of a half.
func share(count, total int64) bson.RawValue {
	millionths := (2_000_000*count + total) / (2 * total)
	return bson.RawValue{Type: bson.TypeDouble, Value: bsoncore.AppendDouble(nil, float64(millionths)/1e6)}
}

// appendEnrichment appends the description and keywords of a topic from the catalogue.
func (s *Summary) appendEnrichment(dst []byte, id string) []byte {
	entry := s.catalogue[id]
	dst = appendValue(dst, "description", raw.Get(entry, "description"))
	keywords := raw.Get(entry, "keywords")
	if keywords.Type != bson.TypeArray && text(keywords) == "" {
		return bsoncore.AppendArrayElement(dst, "keywords", emptyArray)
	}
	return appendValue(dst, "keywords", keywords)
}

var emptyArray = []byte{5, 0, 0, 0, 0}

func (t tally) appendElements(dst []byte, r *related) []byte {
	return bsoncore.AppendInt64Element(append(dst, r.fields...), "count", int64(t[r]))
}

func appendEntry(dst []byte, e entry) []byte {
	dst = bsoncore.AppendStringElement(dst, "id", e.id)
	dst = bsoncore.AppendInt64Element(dst, "year", e.year)
	dst = bsoncore.AppendDoubleElement(dst, "score", e.score)
	dst = bsoncore.AppendStringElement(dst, "html", e.html)
	dst = bsoncore.AppendStringElement(dst, "icon", e.icon)
	dst = bsoncore.AppendStringElement(dst, "type", e.kind)
	return bsoncore.AppendStringElement(dst, "subtype", e.subkind)
}
