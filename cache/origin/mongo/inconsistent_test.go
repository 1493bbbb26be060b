package mongo_test

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"

	"vitrine/cache/origin"
	"vitrine/cache/origin/mongo"
	"vitrine/cache/origin/mongo/mongotest"
)

// TestMixedRows puts rows of another generation among those of a view, or damages rows, while their number stays the
// same: a reader of all rows, a count, and a reader of the changes are told, and the next publication of the rows is
// whole.
func TestMixedRows(t *testing.T) {
	server := mongotest.Start(t)
	id := bson.D{{Key: "_id", Value: "part 1"}}
	set := func(field string, value any) bson.D {
		return bson.D{{Key: "$set", Value: bson.D{{Key: field, Value: value}}}}
	}
	for name, c := range map[string]struct {
		change func(rows *driver.Collection) error
		short  bool // rows are missing, which their number tells
	}{
		"an older row": {func(rows *driver.Collection) error {
			_, err := rows.UpdateMany(t.Context(), bson.D{}, set("_view.gen", int64(1)))
			return err
		}, false},
		"a newer row": {func(rows *driver.Collection) error {
			_, err := rows.UpdateOne(t.Context(), bson.D{}, set("_view.gen", int64(9)))
			return err
		}, false},
		"a row without a record": {func(rows *driver.Collection) error {
			_, err := rows.InsertOne(t.Context(), append(id,
				bson.E{Key: "_view", Value: bson.D{{Key: "gen", Value: int64(1)}, {Key: "hash", Value: int64(1)}}}))
			return err
		}, false},
		"an unreadable row": {func(rows *driver.Collection) error {
			_, err := rows.UpdateOne(t.Context(), bson.D{}, set("_view", int32(1)))
			return err
		}, true},
		"a row with a text as generation": {func(rows *driver.Collection) error {
			_, err := rows.UpdateOne(t.Context(), bson.D{}, set("_view.gen", "3"))
			return err
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			database := "mixed" + bson.NewObjectID().Hex()
			s := openAt(t, server+database, mongo.Options{BatchSize: mongotest.BatchSize})
			for range 3 {
				publishWhole(t, s)
			}
			before, err := s.Meta(t.Context(), "parts")
			if err != nil {
				t.Fatal(err)
			}
			if err := c.change(client(t, server).Database(database).Collection("view_parts")); err != nil {
				t.Fatal(err)
			}
			n := 0
			_, err = s.Rows(t.Context(), "parts", 0, func(origin.Row) error { n++; return nil })
			if short := n < before.Rows; errors.Is(err, origin.ErrInconsistent) == c.short || short != c.short {
				t.Errorf("Rows yields %d of %d rows, and %v", n, before.Rows, err)
			}
			n, err = s.RowCount(t.Context(), "parts")
			if short := n < before.Rows; errors.Is(err, origin.ErrInconsistent) == c.short || short != c.short {
				t.Errorf("RowCount = %d of %d rows, %v", n, before.Rows, err)
			}
			_, err = s.Rows(t.Context(), "parts", 2, func(origin.Row) error { return nil })
			if name != "a row without a record" && !errors.Is(err, origin.ErrInconsistent) {
				t.Errorf("Rows since generation 2: %v", err)
			}
			hashes := map[string]uint64{}
			if err := s.Hashes(t.Context(), "parts", func(id bson.RawValue, hash uint64) error {
				hashes[id.String()] = hash
				return nil
			}); err != nil || len(hashes) < before.Rows {
				t.Errorf("%d hashes, %v", len(hashes), err)
			}
			if name == "a row without a record" {
				return // a run removes it
			}
			if err := publish(t, s, "direct", 5); err != nil {
				t.Fatal(err)
			}
			if n, err := s.RowCount(t.Context(), "parts"); n != before.Rows || err != nil {
				t.Errorf("after the next publication: %d rows, %v", n, err)
			}
		})
	}
}
