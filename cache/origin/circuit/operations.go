package circuit

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"vitrine/cache/origin"
	"vitrine/rules"
)

var errCanceled = errors.New("canceled: the store has stopped answering")

// pass is the store's gate: it sends a request unless the circuit is open, and cancels it when the circuit opens.
func (s *Store) pass(ctx context.Context, request func(context.Context) error) error {
	s.mu.Lock()
	open, era := s.state.Open, s.era
	if open {
		s.state.Refused++
	}
	s.mu.Unlock()
	if open {
		return s.unavailable()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(era, func() { cancel(errCanceled) })()
	err := request(ctx)
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, errCanceled) {
		return fmt.Errorf("%w: %w: %w", s.unavailable(), cause, err)
	}
	s.note(err)
	return err
}

var answers = []error{
	origin.ErrNotFound, origin.ErrLeaseHeld, origin.ErrFenced, origin.ErrStale, origin.ErrUnsupported, rules.ErrWrongCall,
}

// note records whether the result of a request shows that the store answered.
func (s *Store) note(err error) {
	switch {
	case err == nil, slices.ContainsFunc(answers, func(answer error) bool { return errors.Is(err, answer) }):
		s.recordAnswer()
	case errors.Is(err, rules.ErrUnavailable):
		select {
		case s.doubt <- struct{}{}:
		default: // Run already has a signal
		}
	}
}

// Ping implements origin.Store.
func (s *Store) Ping(ctx context.Context) error { return s.pass(ctx, s.Store.Ping) }
