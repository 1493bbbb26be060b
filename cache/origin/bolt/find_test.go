package bolt_test

import (
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	bbolt "go.etcd.io/bbolt"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/bolt"
	"vitrine/rules/raw"
)

// things stores n documents {_id: i, n: i % 10} in a new store.
func things(t *testing.T, n int) *bolt.Store {
	t.Helper()
	s := open(t, bolt.Options{})
	docs := make([]bson.Raw, n)
	for i := range docs {
		docs[i] = bsonDoc(t, bson.D{{Key: "_id", Value: int32(i)}, {Key: "n", Value: int32(i % 10)}})
	}
	if _, err := s.Upsert(t.Context(), "things", docs); err != nil {
		t.Fatal(err)
	}
	return s
}

// bsonDoc encodes a document.
func bsonDoc(t *testing.T, d bson.D) bson.Raw {
	t.Helper()
	doc, err := bson.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// idsOf collects the ids of documents.
func idsOf(t *testing.T, docs iter.Seq2[bson.Raw, error]) (ids []int32) {
	t.Helper()
	for doc, err := range docs {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, doc.Lookup("_id").Int32())
	}
	return ids
}

// TestFindByID: an equality on _id reads one document, and other conditions on _id find
// what a scan finds.
func TestFindByID(t *testing.T) {
	const many = 5000
	s := things(t, many)
	for _, c := range []struct {
		name   string
		filter bson.D
		want   []int32
		reads  int // the largest number of transactions
	}{
		{"equal", bson.D{{Key: "_id", Value: 4000}}, []int32{4000}, 2},
		{"$eq", bson.D{{Key: "_id", Value: bson.D{{Key: "$eq", Value: 4000}}}}, []int32{4000}, 2},
		{"another type of number", bson.D{{Key: "_id", Value: 4000.0}}, []int32{4000}, 2},
		{"and a condition that holds", bson.D{{Key: "n", Value: 1}, {Key: "_id", Value: 11}}, []int32{11}, 2},
		{"and a condition that does not", bson.D{{Key: "_id", Value: 11}, {Key: "n", Value: 2}}, nil, 2},
		{"$eq and more", bson.D{{Key: "_id", Value: bson.D{{Key: "$eq", Value: 11}, {Key: "$gt", Value: 11}}}}, nil,
			2},
		{"missing", bson.D{{Key: "_id", Value: many}}, nil, 2},
		{"$in", bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: bson.A{3, 1, 3.0, many}}}}}, []int32{1, 3}, 6},
		{"$in and a condition", bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: bson.A{3, 1}}}},
			{Key: "n", Value: 3}}, []int32{3}, 4},
		{"$in with null", bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: bson.A{3, nil}}}}}, []int32{3}, many},
		{"$in of nothing", bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: bson.A{}}}}}, nil, many},
		{"null", bson.D{{Key: "_id", Value: nil}}, nil, many},
		{"$ne", bson.D{{Key: "_id", Value: bson.D{{Key: "$ne", Value: 1}}}, {Key: "n", Value: 11}}, nil, many},
		{"a range", bson.D{{Key: "_id", Value: bson.D{{Key: "$lt", Value: 2}}}}, []int32{0, 1}, many},
	} {
		t.Run(c.name, func(t *testing.T) {
			looks := &countedLooks{Context: t.Context()}
			got := idsOf(t, s.Find(looks, "things", origin.Query{Filter: bsonDoc(t, c.filter)}))
			if !slices.Equal(got, c.want) {
				t.Errorf("found %v, want %v", got, c.want)
			}
			if looks.n > c.reads {
				t.Errorf("%d transactions, want at most %d", looks.n, c.reads)
			}
		})
	}
}

// TestFindLargeByID: a record that fills a batch alone is found once.
func TestFindLargeByID(t *testing.T) {
	s := open(t, bolt.Options{})
	large := bsonDoc(t, bson.D{{Key: "_id", Value: int32(1)}, {Key: "text", Value: strings.Repeat("a", 5<<20)}})
	if _, err := s.Upsert(t.Context(), "things", []bson.Raw{large}); err != nil {
		t.Fatal(err)
	}
	byID := origin.Query{Filter: bsonDoc(t, bson.D{{Key: "_id", Value: int32(1)}})}
	n := 0
	for _, err := range s.Find(t.Context(), "things", byID) {
		if n++; err != nil || n > 1 {
			t.Fatalf("%d documents, %v", n, err)
		}
	}
	if n != 1 {
		t.Errorf("%d documents", n)
	}
}

// TestFindInOrder: sorted documents with equal keys stay in the order of their ids, and
// pages neither repeat nor skip documents.
func TestFindInOrder(t *testing.T) {
	s := things(t, 50)
	order := by(t, "n", true)
	all := idsOf(t, s.Find(t.Context(), "things", origin.Query{Sort: order}))
	if want := []int32{9, 19, 29, 39, 49, 8}; len(all) != 50 || !slices.Equal(all[:6], want) {
		t.Errorf("%d documents, the first %v; want %v", len(all), all[:6], want)
	}
	var paged []int32
	for skip := int64(0); skip < 50; skip += 7 {
		paged = append(paged,
			idsOf(t, s.Find(t.Context(), "things", origin.Query{Sort: order, Skip: skip, Limit: 7}))...)
	}
	if !slices.Equal(paged, all) {
		t.Errorf("all pages: %v, want %v", paged, all)
	}
	found := s.Find(t.Context(), "things", origin.Query{Limit: 3})
	for range 2 { // each iteration starts from the beginning
		if got := idsOf(t, found); !slices.Equal(got, []int32{0, 1, 2}) {
			t.Errorf("found %v", got)
		}
	}
}

func TestFindErrors(t *testing.T) {
	s := things(t, 1)
	for name, c := range map[string]struct {
		q    origin.Query
		kind error
		want string
	}{
		"an operator of the server": {
			origin.Query{Filter: bsonDoc(t, bson.D{{Key: "$text", Value: bson.D{{Key: "$search", Value: "x"}}}})},
			origin.ErrUnsupported, "find in things"},
	} {
		var errs []error
		for _, err := range s.Find(t.Context(), "things", c.q) {
			errs = append(errs, err)
		}
		if len(errs) != 1 || errs[0] == nil || !strings.Contains(errs[0].Error(), c.want) ||
			c.kind != nil && !errors.Is(errs[0], c.kind) {
			t.Errorf("%s: %v, want one error with %q", name, errs, c.want)
		}
	}
}

// TestDamagedRecord: a scan reports a record that differs from what was written as damaged, and a
// find leaves it out.
func TestDamagedRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v.db")
	s, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var docs []bson.Raw
	for i := range 3 {
		docs = append(docs,
			bsonDoc(t, bson.D{{Key: "_id", Value: int32(i)}, {Key: "text", Value: fmt.Sprint("text ", i)}}))
	}
	_, err = s.Upsert(t.Context(), "things", docs)
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	alter(t, path, "text 1", "text 9")
	if s, err = bolt.Open(path, bolt.Options{}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	whole, damaged := 0, 0
	for _, err := range s.Scan(t.Context(), "things") {
		var d *origin.DamagedError
		if err == nil {
			whole++
		} else if damaged++; !errors.As(err, &d) || d.Collection != "things" || d.ID.Int32() != 1 {
			t.Errorf("the scan yields %v", err)
		}
	}
	if whole != 2 || damaged != 1 {
		t.Errorf("%d whole records and %d damaged, want 2 and 1", whole, damaged)
	}
	for _, q := range []origin.Query{{}, {Sort: by(t, "text", false)}} {
		if got := idsOf(t, s.Find(t.Context(), "things", q)); !slices.Equal(got, []int32{0, 2}) {
			t.Errorf("found %v", got)
		}
	}
	byID := origin.Query{Filter: bsonDoc(t, bson.D{{Key: "_id", Value: 1}})}
	if got := idsOf(t, s.Find(t.Context(), "things", byID)); len(got) != 0 {
		t.Errorf("found by its id: %v", got)
	}
}

// alter replaces a text in the records and keeps the old checksums.
func alter(t *testing.T, path, from, to string) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		bucket := tx.Bucket([]byte("source")).Bucket([]byte("things"))
		return bucket.ForEach(func(key, value []byte) error {
			altered := strings.ReplaceAll(string(value), from, to)
			if altered == string(value) {
				return nil
			}
			return bucket.Put(key, []byte(altered))
		})
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// by returns an order by one field.
func by(t testing.TB, field string, desc bool) raw.Sort {
	t.Helper()
	path, err := raw.ParsePath(field)
	if err != nil {
		t.Fatal(err)
	}
	return raw.Sort{{Path: path, Desc: desc}}
}
