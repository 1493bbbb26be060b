package mongo

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestBurst: the clock is the test's own.
func TestBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		b := burst{changed: func(name string) { got = append(got, name) }}
		reported := func(want ...string) {
			t.Helper()
			synctest.Wait()
			b.mu.Lock() // as report has when it appends
			defer b.mu.Unlock()
			if !slices.Equal(got, want) {
				t.Errorf("reported %q, want %q", got, want)
			}
			got = nil
		}

		// A burst is reported once per collection, after it has been silent.
		for _, name := range []string{"a", "b", "a"} {
			b.add(name)
			time.Sleep(pause - 1)
			reported()
		}
		time.Sleep(time.Nanosecond)
		reported("a", "b")

		// Changes of a stream that never pauses are reported all the same.
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

		// What comes at once is reported in its order, and nothing after the end.
		b.add("d", "e", "d")
		time.Sleep(pause)
		reported("d", "e")
		b.add("f")
		b.drop()
		time.Sleep(20 * pause)
		reported()
	})
}
