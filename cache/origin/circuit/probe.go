package circuit

import (
	"context"
	"time"

	"vitrine/rules/backoff"
)

// Probe pings the store once, at a start. Without an answer the circuit opens, until Run finds the store.
func (s *Store) Probe(ctx context.Context) {
	if err := s.breaker.probe(ctx); err == nil {
		s.breaker.recordAnswer()
	} else if ctx.Err() == nil {
		s.breaker.trip(err)
	}
}

// Run watches the store until ctx ends, and returns nil.
func (s *Store) Run(ctx context.Context) error {
	b := s.breaker
	for failures := 0; ctx.Err() == nil; {
		began := time.Now()
		err := b.probe(ctx)
		contact := b.current().Contact
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			b.recordAnswer()
			b.close()
			failures = 0
		case !contact.Before(began):
			failures = 0 // the store answered an operation meanwhile
		default:
			if failures++; failures >= failuresToOpen || contact.IsZero() {
				b.trip(err)
			}
		}
		if failures == 0 {
			waitForDoubt(ctx, b)
		} else {
			waitToProbe(ctx, b)
		}
	}
	return nil
}

// probe pings the store. Meanwhile it promises the next ping for the time when this one has taken as long as the
// last and a pause has passed: refused requests say so to clients.
func (b *breaker) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	began := time.Now()
	b.mu.Lock()
	b.state.Pings++
	b.next = began.Add(b.took + pause) // this ping may wait long if the store is coming back
	b.mu.Unlock()
	err := b.ping(ctx)
	b.mu.Lock()
	b.took = time.Since(began)
	b.mu.Unlock()
	return err
}

// waitForDoubt waits until the store was silent or an operation did not reach it, and at least a pause.
func waitForDoubt(ctx context.Context, b *breaker) {
	sleep(ctx, pause, nil)
	for ctx.Err() == nil {
		silent := time.Since(b.current().Contact)
		if silent >= quiet || !sleep(ctx, quiet-silent, b.doubt) {
			return
		}
	}
}

// sleep waits and reports whether the time passed before ctx ended or woken got a signal.
func sleep(ctx context.Context, d time.Duration, woken <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-woken:
	case <-ctx.Done():
	}
	return false
}

// waitToProbe waits before the next ping to a store that did not answer. Pauses are jittered between processes.
func waitToProbe(ctx context.Context, b *breaker) {
	wait := backoff.Jitter(pause*3/4, 1./3)
	b.mu.Lock()
	b.next = time.Now().Add(wait)
	b.mu.Unlock()
	sleep(ctx, wait, nil)
}
