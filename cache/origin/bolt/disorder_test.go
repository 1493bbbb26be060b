package bolt_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/bolt"
)

// bbolt checks the first page of a node only. A node whose other pages are damaged while the store is open can have
// keys out of order, which mislead a search. The tests of this file make such keys.

// textID is the _id of textDoc(i). The ids are in the order of i.
func textID(i int) string { return fmt.Sprintf("record %03d", i) }

// textDoc returns a document with a text of the given number of bytes.
func textDoc(t *testing.T, i, size int) bson.Raw {
	t.Helper()
	return bsonDoc(t, bson.D{{Key: "_id", Value: textID(i)}, {Key: "text", Value: strings.Repeat("a", size)}})
}

// storeOf returns the file of a store that fill has filled.
func storeOf(t *testing.T, fill func(*bolt.Store)) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "good.db")
	s, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fill(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// zeroed opens a store and makes a page of its file zero.
func zeroed(t *testing.T, file []byte, page int) *bolt.Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "v.db")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(make([]byte, damagePage), int64(page)*damagePage); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestWritesAreFound: what a store acknowledges is found.
func TestWritesAreFound(t *testing.T) {
	docs := map[string]bson.Raw{}
	for i := range 16 { // of such sizes that some nodes have several pages
		docs[textID(i)] = textDoc(t, i, (i+1)*977%3800)
	}
	file := storeOf(t, func(s *bolt.Store) {
		for _, id := range sortedNames(docs) {
			if _, err := s.Upsert(t.Context(), "records", []bson.Raw{docs[id]}); err != nil {
				t.Fatal(err)
			}
			if err := damageKeep(t.Context(), s, id, docs[id]); err != nil {
				t.Fatal(err)
			}
		}
	})
	for page := 2; page < len(file)/damagePage; page++ {
		s := zeroed(t, file, page)
		for _, id := range sortedNames(docs) {
			answer := func() bool {
				r, err := s.Responses().Response(t.Context(), "/"+id)
				return err == nil && bytes.Equal(r.Body, docs[id])
			}
			if !answer() && damageKeep(t.Context(), s, id, docs[id]) == nil && !answer() {
				t.Errorf("page %d: the answer /%s was stored and is not found", page, id)
			}
			if _, err := s.Upsert(t.Context(), "records", []bson.Raw{docs[id]}); err != nil {
				continue
			}
			found := 0
			byID := origin.Query{Filter: bsonDoc(t, bson.D{{Key: "_id", Value: id}})}
			for doc, err := range s.Find(t.Context(), "records", byID) {
				if found++; err != nil || !bytes.Equal(doc, docs[id]) {
					t.Errorf("page %d: another %s: %v", page, id, err)
				}
			}
			if found != 1 {
				t.Errorf("page %d: %s was stored and is found %d times", page, id, found)
			}
		}
	}
}

// TestScansEnd: a scan reads no batch twice.
func TestScansEnd(t *testing.T) {
	const records = 600
	docs := make([]bson.Raw, records)
	for i := range docs {
		docs[i] = textDoc(t, i, damagePage) // so that a node goes on in a second page, which has its second key
	}
	file := storeOf(t, func(s *bolt.Store) {
		if _, err := s.Upsert(t.Context(), "records", docs); err != nil {
			t.Fatal(err)
		}
	})
	for i := 505; i < 520; i++ { // the last one of the first batch is among them
		s := zeroed(t, file, bytes.Index(file, []byte(textID(i)))/damagePage)
		n := 0
		for _, err := range s.Scan(t.Context(), "records") {
			if n++; n > records {
				t.Fatalf("record %d damaged: more than %d records, %v", i, records, err)
			}
		}
	}
}
