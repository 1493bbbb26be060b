package filter

import (
	"errors"
	"testing"
)

// TestInsist fails matches as a process that stands still for a while makes them fail.
func TestInsist(t *testing.T) {
	late := errors.New("match timeout")
	for _, c := range []struct {
		failures, calls int
		err             error
	}{{0, 1, nil}, {1, 2, nil}, {2, 2, late}} {
		calls := 0
		ok, err := insist(func(s string) (bool, error) {
			calls++
			if calls <= c.failures {
				return false, late
			}
			return s == "moth", nil
		}, "moth")
		if calls != c.calls || !errors.Is(err, c.err) || ok != (c.err == nil) {
			t.Errorf("after %d failures: %t, %v in %d calls; want %d calls, %v", c.failures, ok, err, calls, c.calls, c.err)
		}
	}
}
