package mongotest

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// DropCollections drops all collections of a database. The test server cannot drop a database that others use: it
// leaves files of SQLite behind, which damage the next database of that name.
// It fails the test on an error.
func DropCollections(t testing.TB, db *mongo.Database) {
	t.Helper()
	names, err := db.ListCollectionNames(t.Context(), bson.D{})
	for i := 0; i < len(names) && err == nil; i++ {
		err = db.Collection(names[i]).Drop(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}
