package materialize_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/cache/origin"
	"vitrine/materialize"
)

// fakeWatcher reports the changes that a test sends to it, and returns the error that the test
// sends.
type fakeWatcher struct {
	changes chan string
	broken  chan error
	mu      sync.Mutex // guards asked
	asked   [][]string
}

func (w *fakeWatcher) Watch(ctx context.Context, collections []string, opened func(), changed func(string)) error {
	w.mu.Lock()
	w.asked = append(w.asked, collections)
	w.mu.Unlock()
	opened()
	for {
		select {
		case c := <-w.changes:
			changed(c)
		case err := <-w.broken:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func TestChangesRunJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWatcher{changes: make(chan string), broken: make(chan error)}
		b := idle("b")
		b.Deps = []string{"units", "a"}
		d := newDiary()
		r := newRunner(t, materialize.Options{
			Store: newFakeStore(), Observer: d.observer(), Watcher: w,
			Jobs: []materialize.Job{idle("a"), b, idle("c")},
		})
		stop := started(t, r)
		time.Sleep(time.Minute)
		w.changes <- "units"
		w.changes <- "elsewhere"
		time.Sleep(time.Minute)
		for range 20 { // a burst of two seconds
			w.changes <- "a"
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(58 * time.Second)
		w.broken <- errors.New("stream invalidated")
		time.Sleep(time.Minute)
		w.changes <- "c"
		time.Sleep(time.Minute)
		w.broken <- fmt.Errorf("no replica set: %w", origin.ErrUnsupported)
		time.Sleep(time.Hour)
		stop()
		const s = time.Second
		d.want(t, run{"a", 0, false}, run{"b", 0, false}, run{"c", 0, false}, run{"b", 60 * s, false},
			run{"a", 120 * s, false}, run{"b", 120 * s, false}, run{"a", 125 * s, false}, run{"b", 125 * s, false},
			run{"c", 240 * s, false})
		if len(w.asked) != 2 || !slices.Equal(w.asked[0], []string{"a", "b", "c", "units"}) {
			t.Errorf("watched %v", w.asked)
		}
	})
}
