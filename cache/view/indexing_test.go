package view_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/rules/raw"
)

// indexed is a store that has indexes.
type indexed struct {
	*publisher
	fails int // the first calls fail, this many
	asked chan string
}

func (i *indexed) Index(_ context.Context, name string, orders []raw.Sort) error {
	asked := name
	for _, order := range orders {
		for _, field := range order {
			asked += fmt.Sprint(" ", field.Path, field.Desc)
		}
	}
	i.asked <- asked
	if i.fails > 0 {
		i.fails--
		return errors.New("not today")
	}
	return nil
}

// TestIndexesOfStoredViews: a process with write permission has the store index its views at each generation, because
// indexes may have been lost with their collection, or not been made; a process without it never does.
func TestIndexesOfStoredViews(t *testing.T) {
	defs := []index.Definition{{Name: "things", Order: orderOf(t, "n", true), Warm: []string{"text"},
		Searched: []string{"n"}}}
	want := "things n true _id false text false"
	open := func(t *testing.T, fails int) *indexed {
		p := newPublisher(t)
		p.publish("things", 5, numberedDocs(t, 5, 1)...)
		return &indexed{p, fails, make(chan string, 10)}
	}
	t.Run("may write", func(t *testing.T) {
		store := open(t, 1)
		s := kept(t, view.Options{Store: store, Mode: view.Store, Index: true, Poll: time.Hour, Views: defs})
		next := 1
		for range 3 { // the first call fails
			for len(store.asked) == 0 {
				next = goOn(t, s, store.publisher, next)
			}
			if got := <-store.asked; got != want {
				t.Errorf("asked for %s, want %s", got, want)
			}
		}
	})
	t.Run("may only read", func(t *testing.T) {
		store := open(t, 0)
		s := kept(t, view.Options{Store: store, Mode: view.Store, Poll: time.Hour, Views: defs})
		goOn(t, s, store.publisher, 1)
		if len(store.asked) > 0 {
			t.Errorf("asked for %s", <-store.asked)
		}
	})
	t.Run("from memory", func(t *testing.T) {
		store := open(t, 0)
		s := kept(t, view.Options{Store: store, Index: true, Poll: time.Hour, Views: defs})
		goOn(t, s, store.publisher, 1)
		if len(store.asked) > 0 {
			t.Errorf("asked for %s", <-store.asked)
		}
	})
	t.Run("once", func(t *testing.T) {
		store := open(t, 0)
		if err := view.Index(t.Context(), store, slices.Concat(defs, []index.Definition{{Name: "others"}})); err !=
			nil {
			t.Fatal(err)
		}
		if got := <-store.asked; got != want || len(store.asked) > 0 {
			t.Errorf("asked for %q, then %d more", got, len(store.asked))
		}
	})
}

// goOn publishes the next generation and waits until it is shown.
func goOn(t *testing.T, s *view.Set, p *publisher, from int) int {
	t.Helper()
	p.publish("things", 5, numberedDocs(t, 5, from+1)...)
	for {
		s.Notify("things")
		if snap, err := s.Snapshot("things"); err != nil || snap.Meta().Generation == uint64(from+1) {
			if err != nil {
				t.Fatal(err)
			}
			return from + 1
		}
		<-time.After(time.Millisecond)
	}
}
