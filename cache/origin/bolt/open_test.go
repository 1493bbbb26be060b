package bolt_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/cache/origin"
	"vitrine/cache/origin/bolt"
	"vitrine/rules/raw"
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
	if !strings.Contains(err.Error(), path) {
		t.Errorf("error %q does not name %q", err, path)
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

// TestTornHead: Open reports a file whose first pages are not a store's as a damaged store.
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

// TestOneHead: a store opens with one of its two meta pages, and reports that the other is damaged.
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

// TestAbilities: the embedded store cannot report changes, and sorts without an index.
func TestAbilities(t *testing.T) {
	s := open(t, bolt.Options{})
	if err := s.Watch(t.Context(), []string{"things"}, func() {}, func(string) {}); !errors.Is(err,
		origin.ErrUnsupported) {
		t.Errorf("Watch = %v, want origin.ErrUnsupported", err)
	}
	if err := s.Index(t.Context(), "things", []raw.Sort{by(t, "n", false)}); err != nil {
		t.Errorf("Index = %v", err)
	}
}
