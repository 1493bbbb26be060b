package materialize

import (
	"context"
	"encoding/binary"
	"math"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"vitrine/cache/origin"
	"vitrine/rules/raw"
)

// A run that finds another version of its source reads the records beyond the last greatest value of
// Options.ChangedField, and takes the others for unchanged. The first run after ReadAllEvery reads all, and finds what
// such a run cannot see: an edit that leaves the field below its greatest value, or at it while many records have that,
// or gives it a value of another type, because MongoDB compares values with those of their own type only; and a record
// that came unseen, with an older value and a smaller _id, while another one has gone.

// overlap is how much earlier than the last greatest time a run begins to read. The hosts that write have clocks that
// differ, and a record can be stored a little after it was dated.
const overlap = time.Minute

// maxReread is how many records from before the last greatest value a run reads again, at most. It bounds their bytes:
// 200 activities have 0.6 MB.
const maxReread = 200

// showsChanges reports whether the filter of after finds what has changed between two versions.
func showsChanges(before, now origin.Version) bool {
	switch {
	case !sameBracket(before.ID, now.ID) || !hasOrder(now.Field):
		return false
	case raw.IsNone(before.Field):
		return true // no record had the field
	}
	// If the greatest value has gone, its record may still be there, without the field: only reading all tells.
	return sameBracket(before.Field, now.Field) && raw.Compare(before.Field, now.Field) <= 0
}

// sameBracket reports whether values compare with each other in queries.
func sameBracket(a, b bson.RawValue) bool { return raw.BracketOf(a.Type) == raw.BracketOf(b.Type) }

// hasOrder reports whether a range can begin at a value.
func hasOrder(v bson.RawValue) bool {
	switch v.Type {
	case bson.TypeInt32, bson.TypeInt64, bson.TypeString, bson.TypeDateTime, bson.TypeTimestamp, bson.TypeObjectID:
		return true
	case bson.TypeDouble:
		return !math.IsNaN(v.Double()) // no number is greater than NaN
	}
	return false
}

// changedSince returns the filter for records that may have changed since a version. New records may lack the field, but
// usually have a greater _id.
func changedSince(ctx context.Context, field string, last, now origin.Version) (filter bson.Raw, err error) {
	var either [2]bson.D
	if either[0], err = greaterThan(ctx, field, last.Field, now); err != nil {
		return nil, err
	}
	if either[1], err = greaterThan(ctx, "_id", last.ID, now); err != nil {
		return nil, err
	}
	return bson.Marshal(bson.D{{Key: "$or", Value: either}})
}

// greaterThan returns the condition for a field to be greater than its last greatest value. The records with that value, or
// one shortly before it, are to be read again, because others may have got it meanwhile; but not if they are many, as
// changedSince an import that has dated all records alike.
func greaterThan(ctx context.Context, field string, last bson.RawValue, now origin.Version) (bson.D, error) {
	if raw.IsNone(last) {
		return bson.D{{Key: field, Value: bson.D{{Key: "$ne", Value: nil}}}}, nil
	}
	from := minusOverlap(last)
	greater := bson.D{{Key: field, Value: bson.D{{Key: "$gt", Value: last}}}}
	if field == "_id" && raw.Compare(from, last) == 0 {
		return greater, nil // no other record has the same one
	}
	again, _ := bson.Marshal(bson.D{{Key: field, Value: bson.D{{Key: "$gte", Value: from}, {Key: "$lte", Value: last}}}}) // cannot fail
	if n, err := now.Count(ctx, again); err != nil || n > maxReread {
		return greater, err
	}
	return bson.D{{Key: field, Value: bson.D{{Key: "$gte", Value: from}}}}, nil
}

// minusOverlap returns a time, or an ObjectID, which begins with its time, that is earlier by overlap. Other values stay.
func minusOverlap(v bson.RawValue) bson.RawValue {
	switch v.Type {
	case bson.TypeDateTime:
		v.Value = bsoncore.AppendDateTime(nil, v.DateTime()-overlap.Milliseconds())
	case bson.TypeObjectID:
		const seconds = uint32(overlap / time.Second)
		began := max(binary.BigEndian.Uint32(v.Value), seconds) - seconds
		v.Value = append(binary.BigEndian.AppendUint32(nil, began), make([]byte, 8)...) // what follows the time is random
	}
	return v
}
