package mongo_test

import (
	"errors"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"vitrine/cache/origin"
	"vitrine/cache/origin/mongo"
	"vitrine/cache/origin/mongo/mongotest"
)

// client connects to the server past the store.
func client(t *testing.T, server string) *driver.Client {
	t.Helper()
	c, err := driver.Connect(options.Client().ApplyURI(server))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Disconnect(t.Context()) })
	return c
}

// TestMetaLost removes a view's meta, as a careless restore would: the next publication starts a
// new epoch, which leaves out rows of the old one.
func TestMetaLost(t *testing.T) {
	server := mongotest.Start(t)
	s := openAt(t, server+"lost", mongo.Options{})
	for range 3 {
		publishWhole(t, s)
	}
	before, err := s.Meta(t.Context(), "parts")
	if err != nil {
		t.Fatal(err)
	}
	metas := client(t, server).Database("lost").Collection("view_meta")
	if _, err := metas.DeleteMany(t.Context(), bson.D{}); err != nil {
		t.Fatal(err)
	}
	if got := wholeGeneration(t, s); got != 0 {
		t.Errorf("generation %d without meta", got)
	}
	if err := publish(t, s, "direct", 1); err != nil {
		t.Fatal(err)
	}
	if got := wholeGeneration(t, s); got != 1 {
		t.Errorf("generation %d, want 1", got)
	}
	after, err := s.Meta(t.Context(), "parts")
	if err != nil {
		t.Fatal(err)
	}
	if after.Epoch == before.Epoch {
		t.Error("the new epoch equals the old one")
	}
	_, err = s.Rows(t.Context(), "parts", before.Generation, func(origin.Row) error { return nil })
	if !errors.Is(err, origin.ErrStale) {
		t.Errorf("Rows since a generation of the old epoch = %v, want ErrStale", err)
	}
}

// TestRowsAboveMeta: a backup whose collections were copied at different moments has rows of
// generations above its meta. The next publication must not mix its own rows with them.
func TestRowsAboveMeta(t *testing.T) {
	server := mongotest.Start(t)
	s := openAt(t, server+"torn", mongo.Options{})
	for range 3 {
		publishWhole(t, s)
	}
	was := client(t, server).Database("torn").Collection("view_meta")
	back := bson.D{{Key: "$set", Value: bson.D{{Key: "gen", Value: int64(1)}}}}
	if _, err := was.UpdateOne(t.Context(), bson.D{{Key: "_id", Value: "parts"}}, back); err != nil {
		t.Fatal(err)
	}
	if err := publish(t, s, "direct", 2); err != nil {
		t.Fatal(err)
	}
	if got := wholeGeneration(t, s); got != 2 {
		t.Errorf("generation %d, want 2", got)
	}
}

// TestViewsElsewhere keeps the side collections in a separate database.
func TestViewsElsewhere(t *testing.T) {
	server := mongotest.Start(t)
	s := openAt(t, server+"institute", mongo.Options{ViewsDatabase: "vitrine"})
	doc, err := bson.Marshal(bson.D{{Key: "_id", Value: "x"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Upsert(t.Context(), "activities", []bson.Raw{doc}); err != nil {
		t.Fatal(err)
	}
	publishWhole(t, s)
	for database, want := range map[string][]string{
		"institute": {"activities"},
		"vitrine":   {"view_lease", "view_meta", "view_parts"},
	} {
		got, err := client(t, server).Database(database).ListCollectionNames(t.Context(), bson.D{})
		slices.Sort(got)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("collections of %s = %q, %v; want %q", database, got, err, want)
		}
	}
}

// TestNewRowsAreInserted counts the commands that fold rows in. FerretDB reads all rows for each upsert.
func TestNewRowsAreInserted(t *testing.T) {
	wire := mongotest.NewProxy(t, mongotest.Start(t))
	s := openAt(t, wire.URI()+"inserted", mongo.Options{})
	publishWhole(t, s)
	rows, _ := large(t, 3)
	for _, want := range []struct{ inserts, updates int }{{1, 0}, {0, 1}} {
		wire.Traffic()
		if err := publishRows(t.Context(), s, "direct", rows); err != nil {
			t.Fatal(err)
		}
		got := wire.Traffic().Commands
		inserts, updates := got["insert view_parts"], got["update view_parts"]
		if inserts != want.inserts || updates != want.updates {
			t.Errorf("%d inserts, %d updates, want %+v", inserts, updates, want)
		}
	}
}
