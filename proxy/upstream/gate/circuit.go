package gate

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"net/http"
	"sync"
	"time"

	"vitrine/rules"
)

const (
	// silentToDoubt is how many URLs must get no answer in a row before the server is in doubt. One URL that hangs,
	// for which a client may ask again and again, says nothing about the others.
	silentToDoubt = 5
	// probesToOpen is how many probes in a row must fail to open the circuit.
	probesToOpen = 2
	// circuitPause is the time between probes while the circuit is open; circuitRecheck that before the second probe.
	circuitPause   = 2 * time.Second
	circuitRecheck = 500 * time.Millisecond
	// mostProbing bounds how long a probe waits for an answer.
	mostProbing = 10 * time.Second
)

// circuit stops requests to a server that cannot be reached, or answers nothing. Clients' requests alone never open
// it: when a dial fails, or several URLs in a row get no answer, one goroutine, run, probes the server, and only
// failed probes open the circuit. So no choice of URLs opens it while the server answers others. Run goes on probing
// while the circuit is open, and the first answer closes it: no client's request is used up to find out.
type circuit struct {
	probe   func(ctx context.Context, method, path string) error // any answer will do
	reached func()                                               // called after an answer to a probe, unless nil
	doubt   chan struct{}                                        // of capacity one: the server may be down

	mu      sync.Mutex // guards the rest
	answers uint64     // to clients' requests
	open    bool
	why     error               // why it is open
	next    time.Time           // when the next probe is due, while it is open
	silent  map[uint64]struct{} // hashes of the URLs that got no answer since the last answer
	path    string              // the last that was answered: a server may hang for "/", and answer others
}

func newCircuit(probe func(ctx context.Context, method, path string) error, reached func()) *circuit {
	return &circuit{
		probe: probe, reached: reached, doubt: make(chan struct{}, 1), silent: map[uint64]struct{}{}, path: "/",
	}
}

// check returns an error if the circuit is open.
func (c *circuit) check() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.open {
		return nil
	}
	err := fmt.Errorf("%w: the other server does not answer: %w", rules.ErrUnavailable, c.why)
	return &rules.RetryError{Err: err, After: max(time.Until(c.next), 0)}
}

// answered records that the server has answered. path is what a probe may ask for; empty if there is nothing new.
func (c *circuit) answered(path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers++
	clear(c.silent)
	if path != "" {
		c.path = path
	}
}

// dialed records the result of a dial.
func (c *circuit) dialed(err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		c.suspect()
	}
}

var silentSeed = maphash.MakeSeed()

// unanswered records that a URL got no answer in time.
func (c *circuit) unanswered(url string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.silent[maphash.String(silentSeed, url)] = struct{}{}; len(c.silent) >= silentToDoubt {
		clear(c.silent)
		c.suspect()
	}
}

// suspect makes run probe the server.
func (c *circuit) suspect() {
	select {
	case c.doubt <- struct{}{}:
	default: // run already has a signal
	}
}

// run probes the server when it is in doubt, until ctx ends.
func (c *circuit) run(ctx context.Context) {
	for wait(ctx, 0, c.doubt) {
		for failed := 0; ; {
			before := c.count()
			method, path := c.target(failed)
			err := c.probe(ctx, method, path)
			if err == nil && c.reached != nil {
				c.reached()
			}
			if err == nil || ctx.Err() != nil || c.count() != before { // it answers clients at least
				break
			}
			pause := circuitRecheck
			if failed++; failed >= probesToOpen {
				pause = circuitPause
				c.set(err)
			}
			if !wait(ctx, pause, nil) {
				return
			}
		}
		c.set(nil)
		select {
		case <-c.doubt: // from the probes' own dials, or from before the answer
		default:
		}
		if !wait(ctx, circuitPause, nil) { // the server gets no more probes than that
			return
		}
	}
}

// count returns how many answers there were.
func (c *circuit) count() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answers
}

// wait waits for some time, or for a signal if there is one, and reports whether ctx goes on.
func wait(ctx context.Context, d time.Duration, signal <-chan struct{}) bool {
	var passed <-chan time.Time
	if signal == nil {
		timer := time.NewTimer(d)
		defer timer.Stop()
		passed = timer.C
	}
	select {
	case <-passed:
	case <-signal:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// target returns what the next probe asks for, after some that failed in a row. A server may hang for "/" alone, or
// for every HEAD: if no probe asked for anything else, the circuit would stay open.
func (c *circuit) target(failed int) (method, path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	method, path = http.MethodHead, "/"
	if failed%2 == 1 {
		path = c.path
	}
	if failed%4 >= 2 {
		method = http.MethodGet
	}
	return method, path
}

// set opens the circuit, or closes it if why is nil.
func (c *circuit) set(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open, c.why, c.next = why != nil, why, time.Now().Add(circuitPause)
	clear(c.silent)
}
