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
type fetch struct {
	*flight.Run[Found]
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
type flights struct {
	mu       sync.Mutex
	byKey    map[string]*fetch
	byClient map[netip.Prefix]int
	closed   bool
	running  sync.WaitGroup
}

func newFlights() *flights {
	return &flights{byKey: map[string]*fetch{}, byClient: map[netip.Prefix]int{}}
}

// join returns the flight of f's key that is under way, or begins f. It calls fresh under the lock, so that no flight
// begins just after another has landed with the answer; if fresh returns true, there is no flight.
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

// land ends a flight for those who wait for it. What it still does afterwards is counted until leave.
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

// leave is the last thing that a flight does.
func (fs *flights) leave() { fs.running.Done() }

// void makes the flight of a key keep nothing, and lets the next request begin another one.
func (fs *flights) void(key string) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f := fs.byKey[key]; f != nil {
		f.void = true
		delete(fs.byKey, key)
	}
}

// unlessVoid calls keep, unless the flight's key was dropped. No drop happens meanwhile.
func (fs *flights) unlessVoid(f *fetch, keep func()) bool {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if !f.void {
		keep()
	}
	return !f.void
}

// close refuses further flights.
func (fs *flights) close() {
	fs.mu.Lock()
	fs.closed = true
	fs.mu.Unlock()
}
