package bolt_test

import (
	"path/filepath"
	"testing"

	"vitrine/cache/origin/bolt"
)

// open opens a store in a new folder and closes it when the test ends.
func open(t testing.TB, o bolt.Options) *bolt.Store {
	t.Helper()
	s, err := bolt.Open(filepath.Join(t.TempDir(), "new", "vitrine.db"), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
