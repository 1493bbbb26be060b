package views

import "go.mongodb.org/mongo-driver/v2/bson"

// stored are rows that are the records as stored.
var stored = Rows{
	Fingerprint: "record/1",
	Make: func(map[string][]bson.Raw) func(bson.Raw) (bson.Raw, error) {
		return func(record bson.Raw) (bson.Raw, error) { return record, nil }
	},
}
