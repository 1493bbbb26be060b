package mongo

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestBurst: the test drives the clock.
func TestBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		b := burst{changed: func(name string) { got = append(got, name) }}
		reported := func(want ...string) {
			t.Helper()
			synctest.Wait()
			b.mu.Lock() // report holds the lock when it appends, too
			defer b.mu.Unlock()
			if !slices.Equal(got, want) {
				t.Errorf("reported %q, want %q", got, want)
			}
			got = nil
		}

		// burst reports a collection once, after its changes pause.
		for _, name := range []string{"a", "b", "a"} {
			b.add(name)
			time.Sleep(pause - 1)
			reported()
		}
		time.Sleep(time.Nanosecond)
		reported("a", "b")

		// If a stream never pauses, burst reports its changes after a while.
		for range 19 {
			b.add("c")
			time.Sleep(pause / 2)
		}
		reported()
		for range 3 {
			b.add("c")
			time.Sleep(pause / 2)
		}
		reported("c")
		time.Sleep(pause)
		reported("c")

		// burst reports simultaneous changes in their order, and none after the end.
		b.add("d", "e", "d")
		time.Sleep(pause)
		reported("d", "e")
		b.add("f")
		b.drop()
		time.Sleep(20 * pause)
		reported()
	})
}
