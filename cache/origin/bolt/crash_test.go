package bolt_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	bbolt "go.etcd.io/bbolt"

	"vitrine/cache/origin"
	"vitrine/cache/origin/bolt"
	"vitrine/cache/origin/origintest"
	"vitrine/rules/testoutput"
)

// envChild makes the test binary the child of a crash test, working on this file.
const envChild = "VITRINE_TEST_BOLT_CHILD"

func TestMain(m *testing.M) {
	if path := os.Getenv(envChild); path != "" {
		fmt.Fprintln(os.Stderr, labour(path))
		os.Exit(1)
	}
	os.Exit(testoutput.Limited{Tests: m}.Run())
}

// labour is the child's work; it ends only by an error. So few deltas are kept
// that pruning goes on all the time.
func labour(path string) error {
	s, err := bolt.Open(path, bolt.Options{KeepDeltas: 2})
	if err != nil {
		return err
	}
	return origintest.Labour(context.Background(), s, os.Stdout)
}

func TestKilledAnywhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vitrine.db")
	rounds := 24
	if testing.Short() {
		rounds = 5
	}
	origintest.CrashTest{
		Rounds: rounds,
		Child: func() *exec.Cmd {
			child := exec.Command(os.Args[0])
			child.Env = append(os.Environ(), envChild+"="+path)
			return child
		},
		Open: func(t *testing.T) (origin.Store, func()) {
			s, err := bolt.Open(path, bolt.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return s, func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		},
		Patience: 20 * time.Millisecond,
	}.Run(t)
	checkPages(t, path)
}

// checkPages has bbolt check every page of the file.
func checkPages(t *testing.T, path string) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	err = db.View(func(tx *bbolt.Tx) error {
		for err := range tx.Check() {
			t.Error(err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
