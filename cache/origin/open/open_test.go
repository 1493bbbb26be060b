package open_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/cache/origin"
	"vitrine/cache/origin/bolt"
	"vitrine/cache/origin/mongo"
	"vitrine/cache/origin/open"
)

func TestStore(t *testing.T) {
	t.Chdir(t.TempDir())
	absolute := filepath.Join(t.TempDir(), "a.db")
	for _, tc := range []struct{ uri, wantName string }{
		{"bolt://data/vitrine.db", "bolt://data/vitrine.db"},
		{"bolt://" + absolute, "bolt://" + absolute},
		{"mongodb://user:secret@localhost:1/osiris", "mongodb://localhost:1/osiris"},
	} {
		t.Run(tc.uri, func(t *testing.T) {
			s, err := open.Store(t.Context(), tc.uri, bolt.Options{}, mongo.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Name(); got != tc.wantName {
				t.Errorf("Name = %q, want %q", got, tc.wantName)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	held := "bolt://" + filepath.Join(t.TempDir(), "held.db")
	s, err := open.Store(t.Context(), held, bolt.Options{}, mongo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for _, tc := range []struct {
		name, uri, want string
		kind            error
	}{
		{"nothing", "", "bolt://PATH", nil},
		{"no scheme", "data/vitrine.db", "bolt://PATH", nil},
		{"unknown", "redis://user:secret@host/0", "unknown kind of store", nil},
		{"no path", "bolt://", "no path", nil},
		{"no database", "mongodb://user:secret@host", "no database given", nil},
		{"in use", held, held, origin.ErrLocked},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, err := open.Store(t.Context(), tc.uri, bolt.Options{}, mongo.Options{})
			if err == nil || !strings.Contains(err.Error(), tc.want) || s != nil {
				t.Fatalf("Store = %v, %v; want an error with %q", s, err, tc.want)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("error contains the password: %v", err)
			}
			if tc.kind != nil && !errors.Is(err, tc.kind) {
				t.Errorf("error = %v, want %v", err, tc.kind)
			}
		})
	}
}
