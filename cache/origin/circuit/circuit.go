// Package circuit protects the program from a store that may become unavailable.
//
// While the store answers, requests pass. After a while without an answer, or when an operation could not reach the
// store, one goroutine, Run, pings it. After two failed pings in a row the circuit opens: it cancels running
// operations, and new ones fail at once with rules.ErrUnavailable, which says when to retry. Run goes on pinging, at
// jittered pauses of up to a second. The first answer closes the circuit.
//
// A usual circuit breaker lets a request through to test the store; here only pings do. So a slow query does not open
// the circuit, and a store that comes back gets one ping from each process, not all waiting requests.
//
// While the store answers, an admission queue lets few callers query it at a time, in the order of arrival (line.go).
package circuit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"vitrine/cache/fair"
	"vitrine/cache/origin"
	"vitrine/rules"
)

const (
	// quiet is how long a store may be silent before Run pings it. It is longer than views poll by default: a front
	// end without requests then sends no pings beside its polls. A failed poll causes a ping at once.
	quiet = 3 * time.Second
	// patience is how long a ping waits for an answer.
	patience = 2 * time.Second
	// pause is the longest between pings to a store that does not answer, and the shortest to one that does.
	pause = time.Second
	// failuresToOpen is how many pings in a row must fail to open the circuit; one, if the store has never answered.
	failuresToOpen = 2
)

// State is the state of the circuit.
type State struct {
	Store   string    // the store's name
	Open    bool      // the circuit is open: the store does not answer
	Since   time.Time // when the circuit opened or closed; zero if it was never open
	Contact time.Time // when the store last answered; zero if never
	Err     error     // why the circuit is open
	Opened  uint64    // how often it opened
	Refused uint64    // operations that failed at once because it was open
	Pings   uint64
	Queue   fair.LineStats // the admission queue
}

// inner is the store behind a circuit. The alias makes the embedded field unexported, so that only Jobs gives access
// to its queries without the admission queue.
type inner = origin.Store

// Store is an origin.Store behind a circuit. Run must run, or the circuit never opens.
type Store struct {
	inner // the protected store; its requests pass the circuit

	log      *slog.Logger
	onChange func(closed bool)
	line     *fair.Line    // admits requests that query the store
	doubt    chan struct{} // of capacity one: signals that an operation did not reach the store

	mu    sync.Mutex // guards the rest
	state State
	next  time.Time       // when the next ping is due, while the circuit is open
	took  time.Duration   // how long the last ping took
	era   context.Context // canceled when the circuit opens
	end   context.CancelFunc
}

var _ origin.Store = (*Store)(nil)

// New puts a closed circuit before a store, which Close closes. onChange learns when it closes (true) or opens.
func New(store origin.Store, log *slog.Logger, onChange func(closed bool)) *Store {
	s := &Store{
		inner: store, log: log, onChange: onChange, state: State{Store: store.Name()},
		line: fair.NewLine(maxQueries), doubt: make(chan struct{}, 1),
	}
	s.era, s.end = context.WithCancel(context.Background())
	store.Guard(s.pass)
	return s
}

// State returns the state of the circuit and of the queue.
func (s *Store) State() State {
	s.mu.Lock()
	state := s.state
	s.mu.Unlock()
	state.Queue = s.line.Stats()
	return state
}

// unavailable returns the error of a request that the open circuit refuses or cancels, with the time of the next
// ping.
func (s *Store) unavailable() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.state.Open { // the circuit has closed meanwhile
		return rules.ErrUnavailable
	}
	err := fmt.Errorf("%w: %s is unavailable since %s: %w", rules.ErrUnavailable, s.state.Store,
		s.state.Since.Format(time.RFC3339), s.state.Err)
	return &rules.RetryError{Err: err, After: max(time.Until(s.next), 0)}
}

func (s *Store) recordAnswer() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Contact = time.Now()
}

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
	// Signal a refusal before the request ends, because the driver retries what a server refuses.
	err := request(origin.WithRefusalHook(ctx, func() { signal(s.doubt) }))
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, errCanceled) {
		return fmt.Errorf("%w: %w: %w", s.unavailable(), cause, err)
	}
	s.note(err)
	return err
}

var answers = []error{
	origin.ErrNotFound, origin.ErrLeaseHeld, origin.ErrFenced, origin.ErrStale, origin.ErrForeign,
	origin.ErrUnsupported, rules.ErrWrongCall,
}

// note records whether the result of a request shows that the store answered.
func (s *Store) note(err error) {
	switch {
	case err == nil, slices.ContainsFunc(answers, func(answer error) bool { return errors.Is(err, answer) }):
		s.recordAnswer()
	case errors.Is(err, rules.ErrUnavailable):
		signal(s.doubt)
	}
}

func signal(doubt chan<- struct{}) {
	select {
	case doubt <- struct{}{}:
	default: // Run already has a signal
	}
}

func (s *Store) Ping(ctx context.Context) error { return s.pass(ctx, s.inner.Ping) }
