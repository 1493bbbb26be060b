package programtest

import (
	"os"
	"strconv"
	"testing"

	"vitrine/cache/origin"
	"vitrine/cache/origin/bolt"
	"vitrine/cache/origin/mongo"
	"vitrine/cache/origin/mongo/mongotest"
	"vitrine/cache/origin/open"
)

// These variables set the rounds of the long forms; without them there are a few.
const (
	CrashesEnv     = "VITRINE_TEST_CRASHES"      // for the embedded store
	WireCrashesEnv = "VITRINE_TEST_WIRE_CRASHES" // over the wire
)

// CrashRounds is how often a crash test kills.
//
// few is the number without the variable; a short run makes two at most.
func CrashRounds(t *testing.T, env string, few int) int {
	t.Helper()
	text := os.Getenv(env)
	if text == "" {
		if testing.Short() {
			return min(few, 2)
		}
		return few
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", env, err)
	}
	return n
}

// SnapshotEnv is the setting that names the folder of snapshot files.
const SnapshotEnv = "VITRINE_VIEWS_SNAPSHOT"

// Everything is the part of answers that any caller may see in these tests.
const Everything = "projects.view,proposals.view,portfolio-spectrum"

// WithStore opens a store for the time of a call. No process may have an embedded store open then.
func WithStore(t testing.TB, uri string, do func(origin.Store)) {
	t.Helper()
	store := OpenStore(t, uri)
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	do(store)
}

// OpenStore opens the store at a URI, as the program would. Over the wire it reads in the batches of the other
// tests of MongoDB. The caller closes it before a command opens the same embedded store.
func OpenStore(t testing.TB, uri string) origin.Store {
	t.Helper()
	store, err := open.Store(t.Context(), uri, bolt.Options{}, mongo.Options{BatchSize: mongotest.BatchSize})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// StoreEnv gives every command the same store.
const StoreEnv = "VITRINE_STORE"
