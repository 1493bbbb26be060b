package origin_test

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
	bbolt "go.etcd.io/bbolt"
	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"vitrine/cache/origin"
)

// stored is the place of a document that a store keeps beside its rows.
type stored struct {
	collection, id string // on a server
	bucket, key    string // in an embedded store; inner buckets follow a slash
}

var storedLease = stored{"view_lease", "materialize", "leases/", "materialize"}

func storedMeta(view string) stored { return stored{"view_meta", view, "views/" + view, "meta"} }

var storedState = stored{"view_upstream", "state", "upstream/answers", "state"}

func storedAnswer(key string) stored { return stored{"view_upstream", key, "upstream/answers", key} }

func storedBody(key string) stored { return stored{"view_upstream", key, "upstream/bodies", key} }

// beside returns another client's access to the database of a store.
func beside(t *testing.T, s origin.Store) *driver.Database {
	t.Helper()
	at := strings.LastIndexByte(s.Name(), '/')
	c := must(driver.Connect(options.Client().ApplyURI(s.Name()[:at+1])))(t)
	t.Cleanup(func() { _ = c.Disconnect(t.Context()) })
	return c.Database(s.Name()[at+1:])
}

// rewriteBolt replaces a document of an embedded store by what change makes of it, and opens the store again. A nil
// document deletes it.
func rewriteBolt(t *testing.T, s origin.Store, with settings, at stored, change func(bson.Raw) any) origin.Store {
	t.Helper()
	file := strings.TrimPrefix(s.Name(), "bolt://")
	ok(t, s.Close())
	const seal = 8 + 1 // the checksum and its version behind each value
	key := []byte(at.key)
	db := must(bbolt.Open(file, 0o600, nil))(t)
	ok(t, db.Update(func(tx *bbolt.Tx) error {
		outer, inner, _ := strings.Cut(at.bucket, "/")
		b := tx.Bucket([]byte(outer))
		if inner != "" {
			b = b.Bucket([]byte(inner))
		}
		doc := change(bson.Raw(b.Get(key))[:max(len(b.Get(key))-seal, 0)])
		if doc == nil {
			return b.Delete(key)
		}
		value := must(bson.Marshal(doc))(t)
		sum := xxhash.NewWithSeed(xxhash.Sum64String(at.bucket))
		_, _ = sum.Write(append(key, value...))
		return b.Put(key, append(binary.BigEndian.AppendUint64(value, sum.Sum64()), 1))
	}))
	ok(t, db.Close())
	return openBoltAt(t, file, with)
}

// rewriteMongo does the same as rewriteBolt on a server, while the store stays open.
func rewriteMongo(t *testing.T, s origin.Store, _ settings, at stored, change func(bson.Raw) any) origin.Store {
	t.Helper()
	docs, one := beside(t, s).Collection(at.collection), bson.D{{Key: "_id", Value: at.id}}
	before, err := docs.FindOne(t.Context(), one).Raw()
	if err != nil && !errors.Is(err, driver.ErrNoDocuments) {
		t.Fatal(err)
	}
	if doc := change(before); doc == nil {
		must(docs.DeleteOne(t.Context(), one))(t)
	} else {
		must(docs.ReplaceOne(t.Context(), one, doc, options.Replace().SetUpsert(true)))(t)
	}
	return s
}
