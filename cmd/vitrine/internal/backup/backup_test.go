package backup

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/cache/origin"
	"vitrine/cache/origin/bolt"
)

// newStore creates a store in a file and keeps it open until the test ends.
func newStore(t *testing.T, path string) *bolt.Store {
	t.Helper()
	s, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // a test may have closed it
	return s
}

// TestOpenStore: a copy never takes the place of a store that a process has open, not even of one that is opened
// while the copy is written.
func TestOpenStore(t *testing.T) {
	dir := t.TempDir()
	from, live, link := filepath.Join(dir, "from.db"), filepath.Join(dir, "live.db"), filepath.Join(dir, "link.db")
	source, other := newStore(t, from), newStore(t, live)
	if err := os.Symlink("live.db", link); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(live)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{
		Store: from, Copy: source.Backup, Checking: func() {},
		Progress: func(int64) func(int) { return func(int) {} },
	}
	refused := func(file string) {
		t.Helper()
		_, _, err := Write(t.Context(), file, o)
		if !errors.Is(err, origin.ErrLocked) || !strings.Contains(err.Error(), file) {
			t.Errorf("onto an open store: %v", err)
		}
		if after, err := os.Stat(live); err != nil || !os.SameFile(before, after) {
			t.Errorf("the store was replaced: %v", err)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "*.part")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
	refused(live)
	refused(link)
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	o.Copy = func(ctx context.Context, to bolt.Destination) error {
		other = newStore(t, live)
		return source.Backup(ctx, to)
	}
	refused(live)
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	o.Copy = source.Backup
	if _, _, err := Write(t.Context(), live, o); err != nil {
		t.Errorf("onto a store that no process has open: %v", err)
	}
	if after, err := os.Stat(live); err != nil || os.SameFile(before, after) {
		t.Errorf("the earlier copy is not replaced: %v", err)
	}
}
