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
	"log/slog"
	"time"

	"vitrine/cache/fair"
	"vitrine/cache/origin"
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
	inner // the protected store; its requests pass the breaker

	breaker *breaker
	line    *fair.Line // admits requests that query the store
}

var _ origin.Store = (*Store)(nil)

// New puts a closed circuit before a store, which Close closes. onChange learns when it closes (true) or opens.
func New(store origin.Store, log *slog.Logger, onChange func(closed bool)) *Store {
	s := &Store{store, newBreaker(store, log, onChange), fair.NewLine(maxQueries)}
	store.Guard(s.breaker.pass)
	return s
}

// State returns the state of the circuit and of the queue.
func (s *Store) State() State {
	state := s.breaker.current()
	state.Queue = s.line.Stats()
	return state
}

// Ping sends a ping as a request, which the open circuit refuses. The pings of Run pass by it.
func (s *Store) Ping(ctx context.Context) error { return s.breaker.pass(ctx, s.inner.Ping) }
