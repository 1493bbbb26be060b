package origin_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	bbolt "go.etcd.io/bbolt"
	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"vitrine/cache/origin"
	"vitrine/cache/origin/bolt"
)

var lossTests = map[string]func(*testing.T, harness){
	"one unreadable meta hides no other":             testUnreadableMeta,
	"a fingerprint stays while nothing is written":   testFingerprintAtRest,
	"a fingerprint changes when a view loses rows":   testFingerprint,
	"a count after a loss is that of the other rows": testCountAfterLoss,
}

// behind is what others can do to a store's own documents.
type behind struct {
	// spoil makes a view's meta unreadable and returns the store, which it may have opened again.
	spoil func(t *testing.T, s origin.Store, view string) origin.Store
	// lose deletes some rows of a view, or with none its collection. It is nil if only the store itself can.
	lose func(t *testing.T, s origin.Store, view string, ids ...string)
}

// spoilBolt spoils a checksum in the closed file.
func spoilBolt(t *testing.T, s origin.Store, view string) origin.Store {
	t.Helper()
	path := strings.TrimPrefix(s.Name(), "bolt://")
	ok(t, s.Close())
	db := must(bbolt.Open(path, 0o600, nil))(t)
	ok(t, db.Update(func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte("views")).Bucket([]byte(view))
		spoiled := bytes.Clone(b.Get([]byte("meta")))
		spoiled[len(spoiled)-1] ^= 1
		return b.Put([]byte("meta"), spoiled)
	}))
	ok(t, db.Close())
	return closed(t, must(bolt.Open(path, bolt.Options{}))(t))
}

// beside returns another client's access to the database of a store.
func beside(t *testing.T, s origin.Store) *driver.Database {
	t.Helper()
	at := strings.LastIndexByte(s.Name(), '/')
	c := must(driver.Connect(options.Client().ApplyURI(s.Name()[:at+1])))(t)
	t.Cleanup(func() { _ = c.Disconnect(t.Context()) })
	return c.Database(s.Name()[at+1:])
}

func spoilMongo(t *testing.T, s origin.Store, view string) origin.Store {
	t.Helper()
	change := bson.D{{Key: "$set", Value: bson.D{{Key: "gen", Value: "many"}}}}
	metas, one := beside(t, s).Collection("view_meta"), bson.D{{Key: "_id", Value: view}}
	done := must(metas.UpdateOne(t.Context(), one, change))(t)
	if done.ModifiedCount != 1 {
		t.Fatalf("spoilt: %+v", done)
	}
	return s
}

func loseMongo(t *testing.T, s origin.Store, view string, ids ...string) {
	t.Helper()
	rows := beside(t, s).Collection(origin.SidePrefix + view)
	if len(ids) == 0 {
		ok(t, rows.Drop(t.Context()))
		return
	}
	for _, id := range ids {
		must(rows.DeleteOne(t.Context(), bson.D{{Key: "_id", Value: id}}))(t)
	}
}

func testUnreadableMeta(t *testing.T, h harness) {
	if h.behind.spoil == nil {
		t.Skip("the store cannot be spoilt")
	}
	s := h.open(t, settings{})
	l := acquire(t, s, "a")
	for _, name := range []string{"activities", "persons", "projects"} {
		p := must(s.Begin(t.Context(), name, l))(t)
		ok(t, p.Put(t.Context(), []origin.Row{row(t, name, 1)}))
		must(p.Commit(t.Context(), 1, ""))(t)
	}
	s = h.behind.spoil(t, s, "persons")
	read := []string{}
	for _, m := range must(s.Metas(t.Context()))(t) {
		if m.View != "persons" {
			read = append(read, m.View)
		}
		spoilt := m.View == "persons"
		failed, unread := errors.Is(m.Err, origin.ErrDamaged), m.Generation == 0 && m.Health.Error != ""
		if failed != spoilt || unread != spoilt {
			t.Errorf("meta: %+v", m)
		}
	}
	same(t, "readable metas", read, []string{"activities", "projects"})
	// The embedded store drops it when it opens the file.
	if m, err := s.Meta(t.Context(), "persons"); err == nil && m.Generation != 0 {
		t.Errorf("the unreadable meta was read: %+v", m)
	}
}

// fingerprints returns those of all views, and of one.
func fingerprints(t *testing.T, s origin.Store) [2]string {
	t.Helper()
	return [2]string{must(s.Fingerprint(t.Context(), ""))(t), must(s.Fingerprint(t.Context(), view))(t)}
}

func testFingerprintAtRest(t *testing.T, h harness) {
	s := h.open(t, settings{})
	fingerprints(t, s) // of an empty store
	publish(t, s, acquire(t, s, "a"), 2, row(t, name(1), 1), row(t, name(2), 2))
	before := fingerprints(t, s)
	read(t, s, 0)
	if after := fingerprints(t, s); after != before {
		t.Errorf("fingerprints %q, then %q", before, after)
	}
}

func testFingerprint(t *testing.T, h harness) {
	if h.behind.lose == nil {
		t.Skip("only this process writes to the store")
	}
	s := h.open(t, settings{})
	publish(t, s, acquire(t, s, "a"), 3, row(t, name(1), 1), row(t, name(2), 2), row(t, name(3), 3))
	for _, lost := range [][]string{{name(2)}, nil} {
		before := fingerprints(t, s)
		h.behind.lose(t, s, view, lost...)
		if after := fingerprints(t, s); after[0] == before[0] || after[1] == before[1] {
			t.Errorf("fingerprints %q after the loss of rows %q, before %q", after, lost, before)
		}
	}
}

func testCountAfterLoss(t *testing.T, h harness) {
	if h.behind.lose == nil {
		t.Skip("only this process writes to the store")
	}
	s := h.open(t, settings{})
	publish(t, s, acquire(t, s, "a"), 3, row(t, name(1), 1), row(t, name(2), 2), row(t, name(3), 3))
	h.behind.lose(t, s, view, name(1))
	if n := must(s.RowCount(t.Context(), view))(t); n != 2 {
		t.Errorf("%d rows, want 2", n)
	}
	h.behind.lose(t, s, view)
	if n := must(s.RowCount(t.Context(), view))(t); n != 0 {
		t.Errorf("%d rows of a dropped collection", n)
	}
}
