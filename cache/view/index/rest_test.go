package index

import (
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// TestNoRestWhileRequestsWait: building a value beside requests rests again only once none waits for it.
func TestNoRestWhileRequestsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rests := 0
		s := &segment{budget: NewBudget(1<<20, 0), rows: make([]bson.Raw, 2*indexPart), nap: func() { rests++ }}
		key, finish := indexKey(raw.PathOf("a")), make(chan struct{})
		go derive(s, key, func() *pathIndex {
			<-finish
			return &pathIndex{}
		})
		synctest.Wait()
		waited := make(chan error)
		go func() { waited <- s.mayDerive(t.Context(), key) }()
		synctest.Wait()
		time.Sleep(2 * hurry)
		if s.rest(); rests != 0 {
			t.Error("rests while a request waits")
		}
		close(finish)
		if err := <-waited; err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * hurry)
		if s.rest(); rests != 1 {
			t.Error("does not rest although no request waits")
		}
	})
}
