package bolt_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vitrine/cache/origin"
	"vitrine/cache/origin/bolt"
)

func TestLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vitrine.db")
	s, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = bolt.Open(path, bolt.Options{LockTimeout: time.Millisecond})
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
