package circuit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"vitrine/cache/origin"
	"vitrine/rules"
)

// breaker is the circuit itself: it decides whether a request passes. It knows of the store only its name and its
// ping. Requests report their results to it (pass), and Run those of its pings (probe.go).
type breaker struct {
	ping     func(context.Context) error // asks the store for an answer, without passing the breaker
	log      *slog.Logger
	onChange func(closed bool)
	doubt    chan struct{} // of capacity one: signals that an operation did not reach the store

	mu    sync.Mutex      // guards the rest, but for state.Store, which never changes
	state State           // without Queue
	next  time.Time       // when the next ping is due, while the circuit is open
	took  time.Duration   // how long the last ping took
	era   context.Context // canceled when the circuit opens
	end   context.CancelFunc
}

// newBreaker returns a closed circuit. A store without answer opens it only when Run or Probe has pinged it.
func newBreaker(store origin.Store, log *slog.Logger, onChange func(closed bool)) *breaker {
	b := &breaker{
		ping: store.Ping, log: log, onChange: onChange,
		doubt: make(chan struct{}, 1), state: State{Store: store.Name()},
	}
	b.era, b.end = context.WithCancel(context.Background())
	return b
}

// current returns the state without the queue.
func (b *breaker) current() State {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state
}

// unavailable returns the error of a request that the open circuit refuses or cancels, with the time of the next
// ping.
func (b *breaker) unavailable() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.state.Open { // the circuit has closed meanwhile
		return rules.ErrUnavailable
	}
	err := fmt.Errorf("%w: %s is unavailable since %s: %w", rules.ErrUnavailable, b.state.Store,
		b.state.Since.Format(time.RFC3339), b.state.Err)
	return &rules.RetryError{Err: err, After: max(time.Until(b.next), 0)}
}

// recordAnswer puts off the next ping: an answer to any request shows that the store is there. It does not close an
// open circuit: only a ping does.
func (b *breaker) recordAnswer() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.state.Contact = time.Now()
}

// errCanceled is the cause by which pass tells its own cancellation from the caller's.
var errCanceled = errors.New("canceled: the store has stopped answering")

// pass is the store's gate: it sends a request unless the circuit is open, and cancels it when the circuit opens.
func (b *breaker) pass(ctx context.Context, request func(context.Context) error) error {
	b.mu.Lock()
	open, era := b.state.Open, b.era
	if open {
		b.state.Refused++
	}
	b.mu.Unlock()
	if open {
		return b.unavailable()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(era, func() { cancel(errCanceled) })()
	// Signal a refusal before the request ends, because the driver retries what a server refuses.
	err := request(origin.WithRefusalHook(ctx, func() { signal(b.doubt) }))
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, errCanceled) {
		return fmt.Errorf("%w: %w: %w", b.unavailable(), cause, err)
	}
	b.note(err)
	return err
}

// answers are the errors that only a store that answers can cause.
var answers = []error{
	origin.ErrNotFound, origin.ErrLeaseHeld, origin.ErrFenced, origin.ErrStale, origin.ErrForeign,
	origin.ErrUnsupported, rules.ErrWrongCall,
}

// note records whether the result of a request shows that the store answered.
func (b *breaker) note(err error) {
	switch {
	case err == nil, slices.ContainsFunc(answers, func(answer error) bool { return errors.Is(err, answer) }):
		b.recordAnswer()
	case errors.Is(err, rules.ErrUnavailable):
		signal(b.doubt)
	}
}

// signal wakes Run, and never blocks the request that calls it.
func signal(doubt chan<- struct{}) {
	select {
	case doubt <- struct{}{}:
	default: // Run already has a signal
	}
}

// trip opens the circuit and cancels the running requests, or records a newer reason. It calls onChange without the
// lock, since that may ask for the state.
func (b *breaker) trip(err error) {
	b.mu.Lock()
	before := b.state.Open
	b.state.Open, b.state.Err = true, err
	if !before {
		b.state.Since = time.Now()
		b.state.Opened++
		b.end()
	}
	b.mu.Unlock()
	if !before {
		b.log.Warn("store unavailable: answering from memory", "store", b.state.Store, "error", err)
		b.onChange(false)
	}
}

// close closes the circuit, with a new era for the requests that come now.
func (b *breaker) close() {
	b.mu.Lock()
	before, since := b.state.Open, b.state.Since
	if before {
		b.state.Open, b.state.Err, b.state.Since = false, nil, time.Now()
		b.era, b.end = context.WithCancel(context.Background())
	}
	b.mu.Unlock()
	if before {
		b.log.Info("store available again", "store", b.state.Store, "unavailable", time.Since(since))
		b.onChange(true)
	}
}
