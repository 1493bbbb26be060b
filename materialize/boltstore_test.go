package materialize_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin/bolt"
	"vitrine/materialize"
)

// boltHouse is the embedded store in its own file.
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

// TestDamageIsRepaired: a run skips a damaged record and keeps its row, even if the record's id can
// no longer be read. It renders a damaged row again. It renders no row of another record that needs
// the damaged one.
func TestDamageIsRepaired(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	run := func(want materialize.Result, counts materialize.Counts, rows map[int32]string) {
		t.Helper()
		s, err := bolt.Open(path, bolt.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		r := newRunner(t, materialize.Options{Store: s,
			Jobs: []materialize.Job{(&shouting{rules: "!", deps: []string{"marks"}}).job()}})
		wantCounts(t, once(t, r, materialize.Request{}), want, counts)
		wantLoud(t, s, rows)
	}
	spoil := func(from, to string) {
		t.Helper()
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		spoiled := bytes.ReplaceAll(file, []byte(from), []byte(to))
		if bytes.Equal(file, spoiled) {
			t.Fatalf("%q is not in the file", from)
		}
		if err := os.WriteFile(path, spoiled, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	boltHouse{s}.replace("records", rec(1, "the first"), rec(2, "the second"), rec(3, "the third"))
	boltHouse{s}.replace("marks", m{{Key: "_id", Value: 1}, {Key: "mark", Value: "-a-mark"}})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	all := map[int32]string{1: "the first!-a-mark", 2: "the second!-a-mark", 3: "the third!-a-mark"}
	run(materialize.Published, materialize.Counts{Scanned: 3, Rendered: 3, Changed: 3}, all)

	spoil("the first!", "the worst!")
	run(materialize.Published, materialize.Counts{Scanned: 3, Rendered: 1, Changed: 1}, all)
	spoil("the second\x00", "the socond\x00")
	run(materialize.Unchanged, materialize.Counts{Scanned: 3, Skipped: 1}, all)
	spoil("_id\x00\x03\x00\x00\x00\x02title", "_id\x00\x07\x00\x00\x00\x02title") // the id of the third record
	run(materialize.Unchanged, materialize.Counts{Scanned: 3, Skipped: 2}, all)
	spoil("\x00-a-mark", "\x00-b-mark")
	run(materialize.Held, materialize.Counts{Skipped: 1}, all)
}
