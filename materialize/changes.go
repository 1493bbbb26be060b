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

// If Options.ChangedField is set and the version of a source has changed, a run reads only the records with a greater
// value of that field or a greater _id than the last version had. It takes the others as unchanged. The first run
// after ReadAllEvery reads all, and finds the changes that other runs cannot see:
//
//   - an edit that leaves the field below its greatest value, or at that value while many records have it,
//   - an edit that gives the field a value of another type, because MongoDB compares only values of the same type,
//   - a new record with an older value and a smaller _id, if another record has been deleted meanwhile.

// overlap is how much earlier than the last greatest time a run begins to read. The clocks of hosts that write
// differ, and a program may store a record a little after the time that it put into the field.
const overlap = time.Minute

// maxReread is the most records up to the last greatest value that a run reads again. It bounds the bytes read: 200
// activities have 0.6 MB.
const maxReread = 200

// showsChanges reports whether the filter of changedSince finds what has changed between two versions.
func showsChanges(before, now origin.Version) bool {
	switch {
	case !sameBracket(before.ID, now.ID) || !hasOrder(now.Field):
		return false
	case raw.IsNone(before.Field):
		return true // no record had the field
	}
	// If the greatest value is gone, its record may still exist without the field. Only reading all records finds
	// that.
	return sameBracket(before.Field, now.Field) && raw.Compare(before.Field, now.Field) <= 0
}

// sameBracket reports whether queries compare two values with each other.
func sameBracket(a, b bson.RawValue) bool { return raw.BracketOf(a.Type) == raw.BracketOf(b.Type) }

// hasOrder reports whether a value can be the bound of a range in a query.
func hasOrder(v bson.RawValue) bool {
	switch v.Type {
	case bson.TypeInt32, bson.TypeInt64, bson.TypeString, bson.TypeDateTime, bson.TypeTimestamp, bson.TypeObjectID:
		return true
	case bson.TypeDouble:
		return !math.IsNaN(v.Double()) // no number is greater than NaN
	}
	return false
}

// changedSince returns the filter for records that may have changed since a version. A new record may lack the field,
// but usually has a greater _id.
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

// greaterThan returns the condition that a field is greater than its last greatest value. It includes the records
// with that value, or one shortly before it, because other records may have got it meanwhile. It leaves them out if
// there are more than maxReread, for example after an import that gave all records the same time.
func greaterThan(ctx context.Context, field string, last bson.RawValue, now origin.Version) (bson.D, error) {
	if raw.IsNone(last) {
		return bson.D{{Key: field, Value: bson.D{{Key: "$ne", Value: nil}}}}, nil
	}
	from := minusOverlap(last)
	greater := bson.D{{Key: field, Value: bson.D{{Key: "$gt", Value: last}}}}
	if field == "_id" && raw.Compare(from, last) == 0 {
		return greater, nil // no two records have the same _id
	}
	within := bson.D{{Key: "$gte", Value: from}, {Key: "$lte", Value: last}}
	again, _ := bson.Marshal(bson.D{{Key: field, Value: within}}) // cannot fail
	if n, err := now.Count(ctx, again); err != nil || n > maxReread {
		return greater, err
	}
	return bson.D{{Key: field, Value: bson.D{{Key: "$gte", Value: from}}}}, nil
}

// minusOverlap returns a time or ObjectID that is earlier by overlap; an ObjectID begins with its time. It returns
// other values unchanged.
func minusOverlap(v bson.RawValue) bson.RawValue {
	switch v.Type {
	case bson.TypeDateTime:
		v.Value = bsoncore.AppendDateTime(nil, v.DateTime()-overlap.Milliseconds())
	case bson.TypeObjectID:
		const seconds = uint32(overlap / time.Second)
		began := max(binary.BigEndian.Uint32(v.Value), seconds) - seconds
		v.Value = binary.BigEndian.AppendUint32(nil, began)
		v.Value = append(v.Value, make([]byte, 8)...) // in an ObjectID, random bytes follow the time
	}
	return v
}
