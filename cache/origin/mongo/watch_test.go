package mongo

import (
	"slices"
	"testing"
	"time"
)

// TestDebounce drives the clock by hand: each timer that debounce asks for comes
// over a channel, and fires when the test sends on it.
func TestDebounce(t *testing.T) {
	const pause = time.Second
	type timer struct {
		d    time.Duration
		fire chan time.Time
	}
	timers := make(chan timer, 8)
	seen := make(chan string)
	changed := make(chan string, 8)
	done := make(chan struct{})
	go func() {
		defer close(done)
		debounce(seen, pause, func(d time.Duration) <-chan time.Time {
			tm := timer{d, make(chan time.Time)}
			timers <- tm
			return tm.fire
		}, func(name string) { changed <- name })
	}()
	asked := func(want time.Duration) timer {
		t.Helper()
		tm := <-timers
		if tm.d != want {
			t.Errorf("timer of %v, want %v", tm.d, want)
		}
		return tm
	}
	reported := func(want ...string) {
		t.Helper()
		var got []string
		for range want {
			got = append(got, <-changed)
		}
		if !slices.Equal(got, want) {
			t.Errorf("reported %q, want %q", got, want)
		}
	}

	// A burst is reported once per collection, after it has been silent.
	seen <- "a"
	asked(10 * pause)
	asked(pause)
	seen <- "b"
	asked(pause)
	seen <- "a"
	asked(pause).fire <- time.Time{}
	reported("a", "b")

	// Changes of a stream that never pauses are reported all the same.
	seen <- "c"
	limit := asked(10 * pause)
	asked(pause)
	seen <- "c"
	asked(pause)
	limit.fire <- time.Time{}
	reported("c")

	close(seen)
	<-done
	if len(changed) > 0 {
		t.Errorf("reported %q besides", <-changed)
	}
}
