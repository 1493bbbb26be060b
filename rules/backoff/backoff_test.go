package backoff_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/rules/backoff"
)

func TestPause(t *testing.T) {
	for failures, want := range map[int]time.Duration{
		0: time.Second, 1: time.Second, 2: 2 * time.Second, 6: 32 * time.Second, 7: time.Minute, 1 << 40: time.Minute,
	} {
		if got := backoff.Pause(failures, time.Second, time.Minute); got != want {
			t.Errorf("after %d failures: %v, want %v", failures, got, want)
		}
	}
}

// TestSleep: it waits as long as it should, and ends with the cause of its context.
func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if err := backoff.Sleep(t.Context(), time.Hour); err != nil || time.Since(began) != time.Hour {
			t.Errorf("%v after %v, want an hour", err, time.Since(began))
		}
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { cancel(gone) })
		if err := backoff.Sleep(ctx, time.Hour); !errors.Is(err, gone) {
			t.Errorf("%v, want the cause", err)
		}
		if err := backoff.Sleep(ctx, 0); err != nil {
			t.Errorf("%v without a wait", err)
		}
	})
}
