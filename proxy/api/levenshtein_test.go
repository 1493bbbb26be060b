package api

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/cache/view/index"
	"vitrine/rules"
)

// activityView returns the definition of the view of activities.
func activityView() index.Definition {
	all := Views()
	return all[slices.IndexFunc(all, func(d index.Definition) bool { return d.Name == rules.ViewActivities })]
}

// titled is a table of n publications.
func titled(t *testing.T, n int) *index.Table {
	t.Helper()
	docs := make([]bson.Raw, n)
	for i := range docs {
		docs[i] = parse(t, fmt.Sprintf(`{"_id":"%04d","type":"publication","title":"Soil %d"}`, i, i))
	}
	return index.NewBuilder(activityView(), index.NewBudget(1<<20, 0)).Load(docs)
}

// looking calls look at every look at the context.
type looking struct {
	context.Context
	look func()
}

// Err implements context.Context.
func (l looking) Err() error { l.look(); return l.Context.Err() }

// TestCorpusInTurn: the corpus is made in the turn of a request, which looks at it for every title. Others wait
// without theirs, and make the corpus themselves if that request's client leaves.
func TestCorpusInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 100
		e, err := New(Options{}, Shared{Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		rows, q, gone := titled(t, n), fair.New(1, 100), errors.New("gone")
		leaving, leave := context.WithCancelCause(t.Context())
		looks, began, held := 0, make(chan bool), make(chan bool)
		first, turn, err := q.Begin(looking{leaving, func() {
			if looks++; looks == n/2 {
				close(began)
				<-held
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		left := make(chan error)
		go func() {
			defer turn.End()
			_, err := e.titles.corpus(first, rows, time.Now())
			left <- err
		}()
		<-began
		turn.Pause() // the two below need the only turn
		found := make(chan error, 2)
		for range 2 {
			ctx, turn, err := q.Begin(t.Context()) // the second gets the turn that the first has returned
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				defer turn.End()
				made, err := e.titles.corpus(ctx, rows, time.Now())
				if err == nil && len(made.slots) != n {
					err = fmt.Errorf("%d titles", len(made.slots))
				}
				found <- err
			}()
			synctest.Wait()
		}
		leave(gone)
		close(held)
		if err := <-left; !errors.Is(err, gone) || looks < n/2 || looks > n/2+10 {
			t.Errorf("a caller who left: %v after %d looks", err, looks)
		}
		for range 2 {
			if err := <-found; err != nil {
				t.Errorf("a caller who stayed: %v", err)
			}
		}
	})
}

// TestCorpusOfTheNewest: the corpus of an older snapshot, which late requests need, takes the place of no newer one,
// in whichever order they are made; until a request for the newest arrives, that of the snapshot before it is kept,
// too.
func TestCorpusOfTheNewest(t *testing.T) {
	e, err := New(Options{}, Shared{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	var tables []*index.Table
	for i := range 3 {
		tables = append(tables, titled(t, 1+i))
	}
	get := func(i int) *corpus {
		t.Helper()
		c, err := e.titles.corpus(t.Context(), tables[i], now.Add(time.Duration(i)*time.Second))
		if err != nil || len(c.slots) != 1+i {
			t.Fatalf("corpus %d: %v, %v", i, c, err)
		}
		return c
	}
	old := get(1)
	newest := get(2) // made before its snapshot is shown
	if get(1) != old {
		t.Error("the shown snapshot's corpus was made again while the next was prepared")
	}
	get(0)
	if get(1) != old {
		t.Error("an older corpus took the place of the shown snapshot's")
	}
	if get(2) != newest {
		t.Error("an older corpus took the place of the newest")
	}
	get(1)
	if get(2) != newest {
		t.Error("an older corpus took the place of the newest after that was requested")
	}
}
