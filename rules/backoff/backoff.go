// Package backoff waits between attempts at what fails: each failure in a row doubles the pause, up to a bound.
package backoff

import (
	"context"
	"time"
)

// Pause returns the pause after some failures in a row: first after one, doubled by each further one up to longest.
func Pause(failures int, first, longest time.Duration) time.Duration {
	pause := first
	for i := 1; i < failures && pause < longest; i++ { // step by step, because a shift would overflow
		pause *= 2
	}
	return min(pause, longest)
}

// Sleep waits for d, or returns the cause of the context's end. It does not wait if d is not positive.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
