package mongo_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/mongo"
	"vitrine/cache/origin/mongo/mongotest"
)

// TestViewsOfAnotherSource: a second institute with the same database for its views can neither read nor replace the
// rows of the first, nor take its lease.
func TestViewsOfAnotherSource(t *testing.T) {
	server := mongotest.Start(t)
	a := openAt(t, server+"a", mongo.Options{ViewsDatabase: "shared"})
	b := openAt(t, server+"b", mongo.Options{ViewsDatabase: "shared"})
	publishWhole(t, a)
	meta, err := a.Meta(t.Context(), "parts")
	if err != nil || meta.Source != "a" {
		t.Fatalf("%+v, %v", meta, err)
	}
	lease := bson.D{{Key: "_id", Value: "materialize"}}
	leases := client(t, server).Database("shared").Collection("view_lease")
	kept, err := leases.FindOne(t.Context(), lease).Raw()
	if err != nil {
		t.Fatal(err)
	}
	refused := func(with string) {
		t.Helper()
		_, acquire := b.Acquire(t.Context(), "materialize", "b", time.Minute)
		_, read := b.Meta(t.Context(), "parts")
		_, rows := b.Rows(t.Context(), "parts", 0, func(origin.Row) error { return errors.New("a row") })
		_, count := b.Count(t.Context(), meta, nil)
		for name, err := range map[string]error{"Acquire": acquire, "Meta": read, "Rows": rows, "Count": count} {
			if foreign, ok := errors.AsType[*origin.ForeignError](err); !ok ||
				*foreign != (origin.ForeignError{Database: "shared", Source: "a", Own: "b"}) {
				t.Errorf("%s with %s: %v", name, with, err)
			}
		}
		metas, err := b.Metas(t.Context())
		if err != nil || len(metas) != 1 || metas[0].View != "parts" || !errors.Is(metas[0].Err, origin.ErrForeign) {
			t.Errorf("Metas with %s: %+v, %v", with, metas, err)
		}
	}
	refused("metas and lease")
	if _, err := leases.DeleteOne(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	refused("metas alone")
	if n, err := leases.CountDocuments(t.Context(), bson.D{}); n > 0 || err != nil {
		t.Errorf("the refused institute left %d leases, %v", n, err)
	}
	if _, err := leases.InsertOne(t.Context(), kept); err != nil {
		t.Fatal(err)
	}
	publishWhole(t, a) // the second generation

	metas := client(t, server).Database("shared").Collection("view_meta")
	if _, err := metas.DeleteMany(t.Context(), bson.D{}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Acquire(t.Context(), "materialize", "b", time.Minute); !errors.Is(err, origin.ErrForeign) {
		t.Errorf("Acquire with the lease alone: %v", err)
	}
}

// TestSourceIsAdopted: documents of older programs lack the source's name, and a database that has its own views may
// have been restored under another name. Both are taken over, and get the name with the next publication.
func TestSourceIsAdopted(t *testing.T) {
	server := mongotest.Start(t)
	set := func(database string, update bson.D) {
		t.Helper()
		for _, name := range []string{"view_meta", "view_lease"} {
			c := client(t, server).Database(database).Collection(name)
			if _, err := c.UpdateMany(t.Context(), bson.D{}, update); err != nil {
				t.Fatal(err)
			}
		}
	}
	for database, update := range map[string]bson.D{
		"old":  {{Key: "$unset", Value: bson.D{{Key: "source", Value: ""}}}},
		"copy": {{Key: "$set", Value: bson.D{{Key: "source", Value: "institute"}}}},
	} {
		s := openAt(t, fmt.Sprint(server, database), mongo.Options{})
		publishWhole(t, s)
		set(database, update)
		if got := wholeGeneration(t, s); got != 1 {
			t.Errorf("%s: generation %d", database, got)
		}
		publishWhole(t, s)
		if meta, err := s.Meta(t.Context(), "parts"); err != nil || meta.Source != database {
			t.Errorf("%s: source %q, %v", database, meta.Source, err)
		}
	}
}
