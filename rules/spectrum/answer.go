package spectrum

import (
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"vitrine/rules/ejson"
	"vitrine/rules/raw"
)

// AppendRow writes the row of a topic as the JSON object that the API returns in the given year: without _id, with
// the share of all activities, and without activities that are not recent. It is not for the row of Totals.
func AppendRow(dst []byte, row bson.Raw, year int, all Totals) []byte {
	dst = append(dst, '{')
	for e := range raw.All(row) {
		if key := string(e.Key); key == "_id" || key == "share" { // rows of earlier versions have the share
			continue
		}
		mark := len(dst)
		dst = ejson.AppendKey(dst, e.Key)
		start := len(dst)
		if string(e.Key) == "activities" {
			dst = appendRecent(dst, e.Value(), year)
		} else {
			dst = ejson.Append(dst, e.Value())
		}
		if len(dst) == start {
			dst = dst[:mark]
		}
		if count, ok := whole(e.Value()); ok && string(e.Key) == "count" && all.Activities > 0 {
			dst = ejson.Append(ejson.AppendKey(dst, "share"), share(count, int64(all.Activities)))
		}
	}
	return append(dst, '}')
}

// appendRecent writes the array of the activities that are recent in a year, newest first, or nothing if there are
// none. The given activities are sorted.
func appendRecent(dst []byte, activities bson.RawValue, year int) []byte {
	separator := byte('[')
	for v := range raw.Elements(activities) {
		if y, ok := whole(raw.Get(document(v), "year")); !ok || y < int64(year)-recentYears {
			break
		}
		dst = ejson.Append(append(dst, separator), v)
		separator = ','
	}
	if separator == ',' {
		dst = append(dst, ']')
	}
	return dst
}

// Totals has the counts of a whole summary.
type Totals struct {
	Activities int  // affiliated activities with topics, the base of shares
	Topics     int  // rows of topics
	Catalogue  bool // whether there is a topic catalogue; without one the API answers 404
}

// TotalsID returns the _id of the row of Totals. It is a number, so it differs from the _id of every topic. The row
// has no count, so it comes last when rows are sorted by count descending.
func TotalsID() bson.RawValue {
	return bson.RawValue{Type: bson.TypeInt32, Value: []byte{0, 0, 0, 0}}
}

func (s *Summary) totals() bson.Raw {
	return bson.Raw(bsoncore.NewDocumentBuilder().
		AppendInt32("_id", 0).
		AppendInt64("activities", int64(s.activities)).
		AppendInt64("topics", int64(s.live)).
		AppendBoolean("catalogue", len(s.catalogue) > 0).
		Build())
}

// ReadTotals reads the row of Totals. It returns false for every other row.
func ReadTotals(row bson.Raw) (Totals, bool) {
	if raw.Get(row, "_id").Type != bson.TypeInt32 {
		return Totals{}, false
	}
	activities, _ := whole(raw.Get(row, "activities"))
	topics, _ := whole(raw.Get(row, "topics"))
	return Totals{
		Activities: int(activities),
		Topics:     int(topics),
		Catalogue:  is(raw.Get(row, "catalogue"), true),
	}, true
}
