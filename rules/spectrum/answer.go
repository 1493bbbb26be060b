package spectrum

import (
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"vitrine/rules/ejson"
)

// AppendRow writes the row of a topic as the JSON object that the API answers with in
// the given year: without _id, and without activities that are not recent. The row
// of Totals is none of a topic.
func AppendRow(dst []byte, row bson.Raw, year int) []byte {
	dst = append(dst, '{')
	open := len(dst)
	for key, v := range fields(row) {
		activities := string(key) == "activities"
		shown := 0
		if activities {
			shown = recent(array(v), year)
		}
		if string(key) == "_id" || activities && shown == 0 {
			continue
		}
		if len(dst) > open {
			dst = append(dst, ',')
		}
		dst = append(ejson.AppendStringBytes(dst, key), ':')
		if activities {
			dst = appendFirst(dst, array(v), shown)
		} else {
			dst = appendJSON(dst, v)
		}
	}
	return append(dst, '}')
}

// recent counts the activities, newest first, that are recent in a year: they are the
// first ones.
func recent(activities []byte, year int) int {
	n := 0
	for _, v := range fields(activities) {
		doc, _ := v.DocumentOK()
		if y, ok := whole(field(doc, "year")); !ok || y < int64(year)-recentYears {
			break
		}
		n++
	}
	return n
}

// appendFirst writes the first n elements of an array.
func appendFirst(dst, list []byte, n int) []byte {
	dst = append(dst, '[')
	i := 0
	for _, v := range fields(list) {
		if i == n {
			break
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendJSON(dst, v)
		i++
	}
	return append(dst, ']')
}

// appendJSON writes a value.
func appendJSON(dst []byte, v bsoncore.Value) []byte {
	return ejson.Append(dst, bson.RawValue{Type: bson.Type(v.Type), Value: v.Data})
}

// Totals tells what a summary was made from.
type Totals struct {
	Activities int  // that shares are of: affiliated, with topics
	Topics     int  // rows beside that of the totals
	Catalogue  bool // whether there is a topic catalogue; without one the API answers 404
}

// TotalsID is the _id of the row of Totals. It is a number and so never that of a topic.
// As it has no count, the row comes last where rows are sorted by count descending.
func TotalsID() bson.RawValue {
	return bson.RawValue{Type: bson.TypeInt32, Value: []byte{0, 0, 0, 0}}
}

// totals makes the row of Totals.
func (s *Summary) totals() bson.Raw {
	start, dst := bsoncore.AppendDocumentStart(nil)
	dst = bsoncore.AppendInt32Element(dst, "_id", 0)
	dst = bsoncore.AppendInt64Element(dst, "activities", int64(s.activities))
	dst = bsoncore.AppendInt64Element(dst, "topics", int64(len(s.topics)))
	dst = bsoncore.AppendBooleanElement(dst, "catalogue", len(s.catalogue) > 0)
	return end(dst, start)
}

// ReadTotals reads the row of Totals; false for every other row.
func ReadTotals(row bson.Raw) (Totals, bool) {
	if field(row, "_id").Type != bsoncore.TypeInt32 {
		return Totals{}, false
	}
	activities, _ := whole(field(row, "activities"))
	topics, _ := whole(field(row, "topics"))
	return Totals{
		Activities: int(activities),
		Topics:     int(topics),
		Catalogue:  is(field(row, "catalogue"), true),
	}, true
}
