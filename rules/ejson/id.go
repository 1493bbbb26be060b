package ejson

import "go.mongodb.org/mongo-driver/v2/bson"

// IDText returns an _id as the API's text id: an ObjectID's digits, a string, or else Extended
// JSON. Ids of other types, such as numbers, have the text of their JSON. Two ids of different
// types can have one text: the string "1" and the number 1.
func IDText(id bson.RawValue) string {
	if oid, ok := id.ObjectIDOK(); ok {
		return oid.Hex()
	}
	if s, ok := id.StringValueOK(); ok {
		return s
	}
	return string(Append(nil, id))
}

// AppendID writes IDText as a JSON string.
func AppendID(dst []byte, id bson.RawValue) []byte { return AppendString(dst, IDText(id)) }
