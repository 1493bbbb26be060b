package circuit

import (
	"context"
	"time"

	"vitrine/rules/backoff"
)

// Probe pings the store once, at a start. Without an answer the circuit opens, until Run finds the store.
func (s *Store) Probe(ctx context.Context) {
	if err := s.probe(ctx); err == nil {
		s.recordAnswer()
	} else if ctx.Err() == nil {
		s.trip(err)
	}
}

// Run watches the store until ctx ends, and returns nil.
func (s *Store) Run(ctx context.Context) error {
	for failures := 0; ctx.Err() == nil; {
		began := time.Now()
		err := s.probe(ctx)
		contact := s.State().Contact
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			s.recordAnswer()
			s.close()
			failures = 0
		case !contact.Before(began):
			failures = 0 // the store answered an operation meanwhile
		default:
			if failures++; failures >= failuresToOpen || contact.IsZero() {
				s.trip(err)
			}
		}
		if failures == 0 {
			waitForDoubt(ctx, s)
		} else {
			waitToProbe(ctx, s)
		}
	}
	return nil
}

func (s *Store) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	began := time.Now()
	s.mu.Lock()
	s.state.Pings++
	s.next = began.Add(s.took + pause) // this ping may wait long if the store is coming back
	s.mu.Unlock()
	err := s.inner.Ping(ctx)
	s.mu.Lock()
	s.took = time.Since(began)
	s.mu.Unlock()
	return err
}

// waitForDoubt waits until the store was silent or an operation did not reach it, and at least a pause.
func waitForDoubt(ctx context.Context, s *Store) {
	sleep(ctx, pause, nil)
	for ctx.Err() == nil {
		silent := time.Since(s.State().Contact)
		if silent >= quiet || !sleep(ctx, quiet-silent, s.doubt) {
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
func waitToProbe(ctx context.Context, s *Store) {
	wait := backoff.Jitter(pause*3/4, 1./3)
	s.mu.Lock()
	s.next = time.Now().Add(wait)
	s.mu.Unlock()
	sleep(ctx, wait, nil)
}

func (s *Store) trip(err error) {
	s.mu.Lock()
	before := s.state.Open
	s.state.Open, s.state.Err = true, err
	if !before {
		s.state.Since = time.Now()
		s.state.Opened++
		s.end()
	}
	s.mu.Unlock()
	if !before {
		s.log.Warn("store unavailable: answering from memory", "store", s.Name(), "error", err)
		s.onChange(false)
	}
}

func (s *Store) close() {
	s.mu.Lock()
	before, since := s.state.Open, s.state.Since
	if before {
		s.state.Open, s.state.Err, s.state.Since = false, nil, time.Now()
		s.era, s.end = context.WithCancel(context.Background())
	}
	s.mu.Unlock()
	if before {
		s.log.Info("store available again", "store", s.Name(), "unavailable", time.Since(since))
		s.onChange(true)
	}
}
