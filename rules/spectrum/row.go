package spectrum

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// row makes the row of a topic.
func (s *Summary) row(t *topic) bson.Raw {
	start, dst := bsoncore.AppendDocumentStart(nil)
	dst = bsoncore.AppendStringElement(dst, "_id", t.id)
	dst = bsoncore.AppendStringElement(dst, "id", t.id)
	dst = bsoncore.AppendStringElement(dst, "catalog_url", strings.ReplaceAll(s.url, "{id}", url.PathEscape(t.id)))
	dst = appendStored(dst, t.labels, "name", "path", "domain", "field", "subfield")
	for _, key := range []string{"domain_id", "field_id", "subfield_id"} {
		dst = appendValue(dst, key, numeric(field(t.labels, key)))
	}
	dst = s.appendEnrichment(dst, t.id)
	dst = bsoncore.AppendInt64Element(dst, "count", int64(t.count))
	dst = bsoncore.AppendDoubleElement(dst, "share", share(t.count, s.activities))
	dst = appendTimeline(dst, t.timeline)
	dst = t.units.appendTo(dst, "units")
	dst = t.persons.appendTo(dst, "researchers")
	dst = t.recent.appendTo(dst, "activities")
	return end(dst, start)
}

// end closes the document that began at start.
func end(dst []byte, start int32) []byte {
	dst, _ = bsoncore.AppendDocumentEnd(dst, start) // fails only for a start out of range
	return dst
}

// endArray closes the array that began at start.
func endArray(dst []byte, start int32) []byte {
	dst, _ = bsoncore.AppendArrayEnd(dst, start) // fails only for a start out of range
	return dst
}

// numeric turns text in digits into the number; everything else stays as it is.
func numeric(v bsoncore.Value) bsoncore.Value {
	s := text(v)
	if s == "" || len(s) > 18 || strings.Trim(s, "0123456789") != "" {
		return v
	}
	n, _ := strconv.ParseInt(s, 10, 64) // 18 digits always fit
	return bsoncore.Value{Type: bsoncore.TypeInt64, Data: bsoncore.AppendInt64(nil, n)}
}

// share returns count/total rounded to six decimals. It rounds the exact quotient,
// halves up, where a division of doubles might land on either side of one.
func share(count, total int) float64 {
	millionths := (2_000_000*int64(count) + int64(total)) / (2 * int64(total))
	return float64(millionths) / 1e6
}

// appendEnrichment appends what the catalogue knows of a topic.
func (s *Summary) appendEnrichment(dst []byte, id string) []byte {
	entry := s.catalogue[id]
	dst = appendValue(dst, "description", field(entry, "description"))
	keywords := field(entry, "keywords")
	if array(keywords) == nil && text(keywords) == "" {
		return bsoncore.AppendArrayElement(dst, "keywords", emptyArray)
	}
	return bsoncore.AppendValueElement(dst, "keywords", keywords)
}

// emptyArray is an encoded array without elements.
var emptyArray = []byte{5, 0, 0, 0, 0}

// appendTimeline appends the counts by year, oldest first.
func appendTimeline(dst []byte, counts map[int64]int) []byte {
	list, dst := bsoncore.AppendArrayElementStart(dst, "timeline")
	for i, year := range slices.Sorted(maps.Keys(counts)) {
		var item int32
		item, dst = bsoncore.AppendDocumentElementStart(dst, strconv.Itoa(i))
		dst = bsoncore.AppendInt64Element(dst, "year", year)
		dst = bsoncore.AppendInt64Element(dst, "count", int64(counts[year]))
		dst = end(dst, item)
	}
	return endArray(dst, list)
}

// appendTo appends the top of the tally as an array.
func (t tally) appendTo(dst []byte, key string) []byte {
	list, dst := bsoncore.AppendArrayElementStart(dst, key)
	for i, r := range t.top() {
		var item int32
		item, dst = bsoncore.AppendDocumentElementStart(dst, strconv.Itoa(i))
		dst = append(dst, r.fields...)
		dst = bsoncore.AppendInt64Element(dst, "count", int64(t[r]))
		dst = end(dst, item)
	}
	return endArray(dst, list)
}

// appendTo appends the entries as an array.
func (n newest) appendTo(dst []byte, key string) []byte {
	list, dst := bsoncore.AppendArrayElementStart(dst, key)
	for i, e := range n {
		var item int32
		item, dst = bsoncore.AppendDocumentElementStart(dst, strconv.Itoa(i))
		dst = bsoncore.AppendStringElement(dst, "id", e.id)
		dst = bsoncore.AppendInt64Element(dst, "year", e.year)
		dst = bsoncore.AppendDoubleElement(dst, "score", e.score)
		dst = bsoncore.AppendStringElement(dst, "html", e.html)
		dst = bsoncore.AppendStringElement(dst, "icon", e.icon)
		dst = bsoncore.AppendStringElement(dst, "type", e.kind)
		dst = bsoncore.AppendStringElement(dst, "subtype", e.subkind)
		dst = end(dst, item)
	}
	return endArray(dst, list)
}
