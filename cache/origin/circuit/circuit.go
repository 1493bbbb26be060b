// Package circuit stands between the program and a store that may go away.
//
// While the store answers, requests pass, and each answer counts as a sign of life.
// When there was none for a while, or an operation could not reach the store, one
// goroutine, Run, looks whether it is there. After two looks in a row without an
// answer the circuit opens: operations under way are given up, new ones fail at once
// with rules.ErrUnavailable, which says when it is worth trying again, and only Run goes
// on looking, at jittered pauses of up to a second. The first look that is answered closes
// the circuit.
//
// So no request is the one that finds out, as it would be behind a breaker that lets the
// next call through to try; a query that is merely slow opens nothing, since a look
// beside it is answered; and a store that comes back meets one look from each process,
// not everything that has waited.
package circuit

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"vitrine/cache/origin"
	"vitrine/rules"
)

// Options tunes a Store; the zero value works.
type Options struct {
	// OnChange, if set, is called when the circuit closes (true) and opens (false).
	OnChange func(closed bool)
	// Log may be nil: then nothing is logged.
	Log *slog.Logger
}

const (
	// quiet is how long a store may be silent before it is looked for.
	quiet = 2 * time.Second
	// patience is how long a look waits for an answer.
	patience = 2 * time.Second
	// pause is the longest pause between looks at a store that does not answer, and the
	// least between looks at one that does.
	pause = time.Second
	// looksToOpen is how many looks in a row must fail to open the circuit. A store that
	// has never answered has one.
	looksToOpen = 2
)

// State is how the store stands.
type State struct {
	Store   string    // its name
	Open    bool      // the circuit is open: the store is away
	Since   time.Time // when the circuit opened or closed; zero: it was never open
	Contact time.Time // when the store last answered; zero: never
	Err     error     // why the circuit is open
	Opened  uint64    // times that it opened
	Refused uint64    // operations that failed at once because it was open
	Looks   uint64    // looks taken
}

// Store is an origin.Store behind a circuit. Run must run, or the circuit never opens.
type Store struct {
	origin.Store // whose requests pass the circuit

	o     Options
	doubt chan struct{} // of capacity one: an operation did not reach the store

	mu    sync.Mutex // guards the rest
	state State
	next  time.Time       // while open: when the store is looked for again
	took  time.Duration   // of the last look
	era   context.Context // ends when the circuit opens
	end   context.CancelFunc
}

var _ origin.Store = (*Store)(nil)

// New puts a circuit, closed, before a store. Closing it closes the store.
func New(inner origin.Store, o Options) *Store {
	if o.OnChange == nil {
		o.OnChange = func(bool) {}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Store{Store: inner, o: o, state: State{Store: inner.Name()}, doubt: make(chan struct{}, 1)}
	s.era, s.end = context.WithCancel(context.Background())
	inner.Guard(s.pass)
	return s
}

// State returns how the store stands.
func (s *Store) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// away is the error of a request that the open circuit refuses or gives up. It knows when
// the store is looked for again.
func (s *Store) away() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.state.Open { // it has closed meanwhile
		return rules.ErrUnavailable
	}
	err := fmt.Errorf("%w: %s is away since %s: %w", rules.ErrUnavailable, s.state.Store, s.state.Since.Format(time.RFC3339), s.state.Err)
	return &rules.RetryError{Err: err, After: max(time.Until(s.next), 0)}
}

// answered records a response of the store.
func (s *Store) answered() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Contact = time.Now()
}
