package backoff_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/rules/backoff"
)

// TestPauses: each pause is twice the one before, up to the longest, and Reset begins again.
func TestPauses(t *testing.T) {
	pauses := backoff.New(time.Second, time.Minute, 0)
	for range 2 {
		for i, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
			if got := pauses.NextBackOff(); got != want*time.Second {
				t.Errorf("pause %d: %v, want %d s", i, got, want)
			}
		}
		pauses.Reset()
	}
}

// TestJitter: durations differ, within the share.
func TestJitter(t *testing.T) {
	seen := map[time.Duration]bool{}
	for range 100 {
		d := backoff.Jitter(time.Minute, .5)
		if seen[d] = true; d < 30*time.Second || d > 90*time.Second {
			t.Errorf("%v, want half a minute to one and a half", d)
		}
	}
	if len(seen) < 2 {
		t.Error("all are equal")
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
