package kept

import (
	"fmt"
	"net/netip"
	"sync"
	"time"

	"vitrine/rules"
	"vitrine/rules/flight"
)

const (
	clientFlights = 8   // that one client may have begun and that have not ended
	mostFlights   = 256 // of all clients
)

// fetch is one flight for a key, for all who wait for it. It belongs to none of them: it goes on when they leave.
// Its answer is shared, so the request has nothing of the client that began it.
type fetch struct {
	// The channel and the result for those who wait.
	*flight.Run[Found]
	// What is fetched, and for which client it counts.
	key    string
	rule   *Rule
	client netip.Prefix // that began it; invalid for Vitrine's own
	began  time.Time
	others chan struct{} // closed when a caller that is not the client has joined

	// force asks the other server although the kept answer is fresh, unless another process has asked it since the
	// flight began.
	force bool
	paid  bool      // its turn was waited for
	due   time.Time // until when the answer should be fresh; zero: now

	// void: the key was dropped meanwhile, so the answer is not kept; shared: others is closed. Guarded by
	// flights.mu.
	void, shared bool
}

// flights are the fetches under way, one a key.
//
// It is no flight.Group, because a drop must void a flight under way, a client has a limit, and a flight goes on
// after it has landed: it writes the file and keeps the budget.
type flights struct {
	// Guards all but running.
	mu    sync.Mutex
	byKey map[string]*fetch
	// How many flights each client has begun; a client without one has no entry.
	byClient map[netip.Prefix]int
	closed   bool
	running  sync.WaitGroup
}

// newFlights returns an empty table of flights.
func newFlights() *flights {
	return &flights{byKey: map[string]*fetch{}, byClient: map[netip.Prefix]int{}}
}

// join returns the flight of f's key that is under way, or begins f. It calls fresh under the lock, so that no flight
// begins just after another has landed with the answer; if fresh returns true, there is no flight.
//
// Without the second look-up, this could happen: a caller finds the entry stale, the flight that renews it lands,
// and the caller begins another flight for a fresh answer.
//
// The error is a *rules.RetryError if the client, or all clients, have too many flights, and rules.ErrUnavailable
// after close. Vitrine's own flights, of Refresh and Renew, have no client and no limit here.
func (fs *flights) join(f *fetch, fresh func() bool) (joined *fetch, begun bool, err error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.closed {
		return nil, false, fmt.Errorf("fetch kept answers: shutting down: %w", rules.ErrUnavailable)
	}
	if running := fs.byKey[f.key]; running != nil {
		if running.client != f.client && !running.shared {
			running.shared = true
			close(running.others)
		}
		return running, false, nil
	}
	if fresh() {
		return nil, false, nil
	}
	if f.client.IsValid() {
		if fs.byClient[f.client] >= clientFlights || len(fs.byKey) >= mostFlights {
			return nil, false, &rules.RetryError{After: time.Second, Err: errBusy}
		}
		fs.byClient[f.client]++
	}
	fs.byKey[f.key] = f
	fs.running.Add(1)
	return f, true, nil
}

// land ends a flight for those who wait for it. What it still does afterwards is counted until leave. The client
// may begin another flight from then on: what follows costs the other server nothing.
func (fs *flights) land(f *fetch, found Found, err error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.byKey[f.key] == f {
		delete(fs.byKey, f.key)
	}
	if f.client.IsValid() {
		if fs.byClient[f.client]--; fs.byClient[f.client] == 0 {
			delete(fs.byClient, f.client)
		}
	}
	f.End(found, err)
}

// leave is the last thing that a flight does. close and then running.Wait wait for it.
func (fs *flights) leave() { fs.running.Done() }

// void makes the flight of a key keep nothing, and lets the next request begin another one.
//
// An operator drops an answer that is wrong. The answer under way may have been requested before the record was
// mended, so those who wait for it get it, and later requests do not.
func (fs *flights) void(key string) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f := fs.byKey[key]; f != nil {
		f.void = true
		delete(fs.byKey, key)
	}
}

// unlessVoid calls keep, unless the flight's key was dropped. No drop happens meanwhile. It reports whether it has
// called keep. The lock decides between a drop and an answer that arrives at the same moment: the drop either voids
// the flight, or comes after keep and removes what keep has added.
func (fs *flights) unlessVoid(f *fetch, keep func()) bool {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if !f.void {
		keep()
	}
	return !f.void
}

// close refuses further flights. A flight under way goes on until its context ends.
func (fs *flights) close() {
	fs.mu.Lock()
	fs.closed = true
	fs.mu.Unlock()
}
