//go:build unix

package result_test

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/cache/fair"
	"vitrine/cache/result"
	"vitrine/rules"
)

// burn works until this process has used some more processor time, however long that takes.
func burn(t *testing.T, d time.Duration) {
	t.Helper()
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			t.Error(err)
			return d
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	for before := used(); used()-before < d; {
	}
}

// TestTooCostly: a load that runs out of time is refused for good, because another attempt would not help, if it has
// worked for more than half of its time, by the clock and by the processors. Otherwise the machine was busy, or other
// work went first. The clock is that of synctest, on which work takes no time and the test says how much passes.
func TestTooCostly(t *testing.T) {
	for name, tt := range map[string]struct {
		limit, works, burns time.Duration
		want                error
	}{
		"worked": {20 * time.Millisecond, 20 * time.Millisecond, 20 * time.Millisecond, rules.ErrWrongCall},
		"had its turn for a short time": {
			20 * time.Millisecond, 9 * time.Millisecond, 20 * time.Millisecond, rules.ErrUnavailable,
		},
		"did not get the processors": {1000 * time.Hour, 1000 * time.Hour, 0, rules.ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := open(t, result.Options{Timeout: tt.limit})
				key := result.Key{Query: "q"}
				_, _, err := c.Get(t.Context(), key, func(ctx context.Context) (*result.Answer, error) {
					turn := fair.TurnOf(ctx)
					burn(t, tt.burns)
					time.Sleep(tt.works)
					turn.Pause()
					time.Sleep(tt.limit)
					return nil, turn.Check(ctx)
				})
				if !errors.Is(err, tt.want) {
					t.Errorf("%v, want %v", err, tt.want)
				}
				c.Close()
			})
		})
	}
}
