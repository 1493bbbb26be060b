package mongo_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"vitrine/cache/origin"
	"vitrine/cache/origin/mongo"
	"vitrine/cache/origin/mongo/mongotest"
	"vitrine/cache/origin/origintest"
)

// databases counts the databases that tests have used, so that each gets a fresh one.
var databases atomic.Int64

// open opens a store on a fresh database and closes it when the test ends.
func open(t testing.TB, server string, o mongo.Options) *mongo.Store {
	t.Helper()
	return openAt(t, fmt.Sprintf("%stest%d", server, databases.Add(1)), o)
}

// openAt opens a store and closes it when the test ends.
func openAt(t testing.TB, uri string, o mongo.Options) *mongo.Store {
	t.Helper()
	o.BatchSize = mongotest.BatchSize
	s, err := mongo.Open(t.Context(), uri, o)
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

func TestConformance(t *testing.T) {
	server := mongotest.Start(t)
	origintest.Run(t, origintest.Harness{Plain: true, Open: func(t *testing.T, s origintest.Settings) origin.Store {
		return open(t, server, mongo.Options{Now: s.Now, KeepDeltas: s.KeepDeltas})
	}})
}
