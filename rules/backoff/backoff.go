// Package backoff waits between attempts at what fails. The pauses are those of cenkalti/backoff.
package backoff

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Exponential has the pauses after failures in a row: NextBackOff returns the next one, and Reset begins again with
// the first, after a success. It is not safe for concurrent use.
type Exponential = backoff.ExponentialBackOff

// New returns pauses of which each is twice the one before, from first up to longest. NextBackOff makes each longer
// or shorter at random by up to a share jitter of it, so that processes that failed together do not try again
// together.
func New(first, longest time.Duration, jitter float64) *Exponential {
	return &Exponential{InitialInterval: first, MaxInterval: longest, Multiplier: 2, RandomizationFactor: jitter}
}

// Jitter returns a duration that is longer or shorter than d at random by up to a share of it.
func Jitter(d time.Duration, share float64) time.Duration { return New(d, d, share).NextBackOff() }

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
