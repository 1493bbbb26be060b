package materialize_test

import (
	"context"
	"path/filepath"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin/bolt"
)

// boltHouse is the embedded store in a file of its own.
type boltHouse struct{ *bolt.Store }

func openBolt(t testing.TB) boltHouse {
	t.Helper()
	s, err := bolt.Open(filepath.Join(t.TempDir(), "store.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return boltHouse{s}
}

func (h boltHouse) replace(collection string, docs ...any) {
	ctx := context.Background()
	raws := make([]bson.Raw, len(docs))
	ids := map[string]bool{}
	for i, d := range docs {
		raws[i] = doc(d)
		ids[key(raws[i].Lookup("_id"))] = true
	}
	if _, err := h.Retain(ctx, collection, func(id bson.RawValue) bool { return ids[key(id)] }); err != nil {
		panic(err) // a broken test
	}
	if _, err := h.Upsert(ctx, collection, raws); err != nil {
		panic(err)
	}
}

// onEachStore runs a test on the fake and on the embedded store.
func onEachStore(t *testing.T, test func(t *testing.T, store house)) {
	t.Run("fake", func(t *testing.T) { test(t, newFakeStore()) })
	t.Run("bolt", func(t *testing.T) { test(t, openBolt(t)) })
}
