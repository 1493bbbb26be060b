package circuit

import (
	"context"
	"math/rand/v2"
	"time"
)

// Look looks once, at a start: a store that does not answer is then left to Run, and
// operations fail at once until it is back.
func (s *Store) Look(ctx context.Context) {
	if err := s.look(ctx); err == nil {
		s.answered()
	} else if ctx.Err() == nil {
		s.trip(err)
	}
}

// Run looks after the store until ctx ends, and returns nil.
func (s *Store) Run(ctx context.Context) error {
	for failures := 0; ctx.Err() == nil; {
		began := time.Now()
		err := s.look(ctx)
		contact := s.State().Contact
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			s.answered()
			s.close()
			failures = 0
		case !contact.Before(began):
			failures = 0 // an operation was answered meanwhile: busy, not away
		default:
			if failures++; failures >= looksToOpen || contact.IsZero() {
				s.trip(err)
			}
		}
		if failures == 0 {
			s.waitForDoubt(ctx)
		} else {
			s.waitToLook(ctx)
		}
	}
	return nil
}

// look asks the store whether it is there.
func (s *Store) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	began := time.Now()
	s.mu.Lock()
	s.state.Looks++
	s.next = began.Add(s.took + pause) // this one may wait for a store that was away when it began
	s.mu.Unlock()
	err := s.Store.Ping(ctx)
	s.mu.Lock()
	s.took = time.Since(began)
	s.mu.Unlock()
	return err
}

// waitForDoubt returns when there is a reason to look: an operation that did not
// reach the store, though not sooner than a pause after the last look, or silence.
func (s *Store) waitForDoubt(ctx context.Context) {
	sleep(ctx, pause, nil)
	for ctx.Err() == nil {
		silent := time.Since(s.State().Contact)
		if silent >= quiet || !sleep(ctx, quiet-silent, s.doubt) {
			return
		}
	}
}

// sleep waits and reports whether it was left to: not if ctx ended or woken by a signal.
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

// waitToLook waits before the next look at a store that did not answer. Pauses are jittered,
// so that processes do not look in step.
func (s *Store) waitToLook(ctx context.Context) {
	wait := pause/2 + rand.N(pause/2+1)
	s.mu.Lock()
	s.next = time.Now().Add(wait)
	s.mu.Unlock()
	sleep(ctx, wait, nil)
}

// trip opens the circuit or, if it is open, records the latest reason.
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
		s.o.Log.Warn("store away: serving what is in memory", "store", s.Name(), "error", err)
		s.o.OnChange(false)
	}
}

// close closes the circuit if it is open.
func (s *Store) close() {
	s.mu.Lock()
	before, since := s.state.Open, s.state.Since
	if before {
		s.state.Open, s.state.Err, s.state.Since = false, nil, time.Now()
		s.era, s.end = context.WithCancel(context.Background())
	}
	s.mu.Unlock()
	if before {
		s.o.Log.Info("store back", "store", s.Name(), "away", time.Since(since))
		s.o.OnChange(true)
	}
}
