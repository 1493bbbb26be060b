package bolt_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	bbolt "go.etcd.io/bbolt"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/bolt"
)

func TestLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vitrine.db")
	s, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = bolt.Open(path, bolt.Options{})
	if !errors.Is(err, origin.ErrLocked) {
		t.Fatalf("second Open = %v, want ErrLocked", err)
	}
	for _, want := range []string{path, fmt.Sprint("process ", os.Getpid())} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not name %q", err, want)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "other")
	if err := os.WriteFile(other, []byte(strings.Repeat("not a database ", 10000)), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"no path": "", "a folder": dir, "another file": other, "below a file": filepath.Join(other, "vitrine.db"),
	} {
		if s, err := bolt.Open(path, bolt.Options{}); err == nil {
			t.Errorf("%s: no error", name)
			_ = s.Close()
		}
	}
}

// TestTornHead: a file whose first pages are not a store's is reported as a damaged store.
func TestTornHead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v.db")
	if err := os.WriteFile(path, make([]byte, 1<<16), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := bolt.Open(path, bolt.Options{}); !errors.Is(err, origin.ErrDamaged) {
		t.Errorf("Open: %v, want %v", err, origin.ErrDamaged)
	}
	if _, err := bolt.Check(t.Context(), path); !errors.Is(err, origin.ErrDamaged) {
		t.Errorf("Check: %v, want %v", err, origin.ErrDamaged)
	}
}

// TestOneHead: a store opens with one of its two meta pages, and reports the other.
func TestOneHead(t *testing.T) {
	file, docs := damageStore(t, 1)
	for page := range 2 {
		d := damaged{t: t, path: filepath.Join(t.TempDir(), "v.db"), docs: docs}
		torn := bytes.Clone(file)
		clear(torn[page*damagePage+16 : page*damagePage+80])
		d.write(torn)
		parts, err := bolt.Check(t.Context(), d.path)
		if err != nil || parts[0].Name != bolt.Head || parts[0].Sound() {
			t.Errorf("page %d: Check: %+v, %v", page, parts, err)
		}
		s, err := bolt.Open(d.path, bolt.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if notes := s.Damage(); len(notes) != 1 || !strings.Contains(notes[0], "meta page") {
			t.Errorf("page %d: %q", page, notes)
		}
		d.error(s.Close())
		if parts, err = bolt.Check(t.Context(), d.path); err != nil || parts[0].Name == bolt.Head {
			t.Errorf("page %d after a commit: %+v, %v", page, parts, err)
		}
	}
}

// TestStoreWithoutChecksums: a file of an earlier version is read as it is; its rows have
// no hashes, so that the next run writes them anew.
func TestStoreWithoutChecksums(t *testing.T) {
	file, docs := damageStore(t, 1)
	d := damaged{t: t, path: filepath.Join(t.TempDir(), "v.db"), docs: docs}
	d.write(file)
	db, err := bbolt.Open(d.path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(_ []byte, b *bbolt.Bucket) error { return unseal(b) })
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	plain := func() (n int) {
		parts, err := bolt.Check(t.Context(), d.path)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range parts {
			if n += p.Plain; !p.Sound() {
				t.Errorf("%+v", p)
			}
		}
		return n
	}
	if n := plain(); n != 1200 {
		t.Errorf("%d values without checksum", n)
	}
	s, err := bolt.Open(d.path, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n, m := d.records(s), d.rows(s); n != 600 || m != 600 {
		t.Errorf("%d records and %d rows are read", n, m)
	}
	err = s.Hashes(t.Context(), damageViews[0], func(_ bson.RawValue, hash uint64) error {
		if hash != 0 {
			t.Errorf("a row without checksum has the hash %d", hash)
		}
		return nil
	})
	d.error(err)
	d.repair(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := plain(); n != 600 {
		t.Errorf("%d values without checksum after a run", n)
	}
}

// unseal takes the checksums off the values of a bucket and of those in it.
func unseal(b *bbolt.Bucket) error {
	plain := map[string][]byte{}
	err := b.ForEach(func(key, value []byte) error {
		if value == nil {
			return unseal(b.Bucket(key))
		}
		if len(value) > 9 { // not the flags of an index
			plain[string(key)] = value[:len(value)-9]
		}
		return nil
	})
	for key, value := range plain {
		if err == nil {
			err = b.Put([]byte(key), value)
		}
	}
	return err
}
