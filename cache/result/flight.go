package result

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"vitrine/cache/fair"
	"vitrine/rules"
)

// Loader computes the plain answer of a key. It must give the same bytes for
// the same key, and end soon after its context does.
type Loader func(context.Context) (*Answer, error)

// Outcome is the origin of an answer.
type Outcome string

// The outcomes of Get.
const (
	Hit    Outcome = "hit"    // from memory
	Loaded Outcome = "loaded" // from this caller's loader
	Shared Outcome = "shared" // from the loader of a concurrent caller
)

// flight is a load that callers wait for. It is cancelled when the last of them leaves.
type flight struct {
	callers int // guarded by the cache's mu
	cancel  context.CancelFunc
	landed  chan struct{} // closed when answer and err are set
	answer  *Answer
	err     error
}

// Get returns the answer for key, from memory or from load. A loaded answer is in memory
// when Get returns, unless there is no room for it. When ctx ends, Get returns; the load
// continues while other callers wait for it. The load's time is charged to the caller
// whose ctx began it (see fair.With). Get returns load's error, or rules.ErrUnavailable
// with the cause if the deadline passed or ctx ended. Errors are never kept.
func (c *Cache) Get(ctx context.Context, key Key, load Loader) (*Answer, Outcome, error) {
	a, outcome, err := c.find(ctx, key, load)
	switch {
	case err != nil:
		c.stats.errors.Add(1)
	case outcome == Hit:
		c.stats.hits.Add(1)
	case outcome == Shared:
		c.stats.shared.Add(1)
	}
	return a, outcome, err
}

// find is Get without statistics. The flight for a compressed answer uses it to get the
// plain one, which is not a call from outside.
func (c *Cache) find(ctx context.Context, key Key, load Loader) (*Answer, Outcome, error) {
	if a, ok := c.lookup(key); ok {
		return a, Hit, nil
	}
	outcome := Shared
	c.mu.Lock()
	f := c.flights[key]
	if f == nil {
		if c.closed {
			c.mu.Unlock()
			return nil, Shared, unavailable(context.Canceled)
		}
		outcome = Loaded
		f = &flight{landed: make(chan struct{})}
		c.flights[key] = f
		c.loads.Add(1)
		var loading context.Context
		loading, f.cancel = c.loading(ctx)
		go c.land(loading, f, key, load)
	}
	f.callers++
	c.mu.Unlock()
	select {
	case <-f.landed:
		return f.answer, outcome, f.err
	case <-ctx.Done():
	}
	if ctx.Err() == context.DeadlineExceeded { // the load's deadline has passed, too
		select {
		case <-f.landed:
			return f.answer, outcome, f.err
		case <-time.After(lastWord):
		}
	}
	c.leave(key, f)
	return nil, Shared, unavailable(context.Cause(ctx))
}

// lastWord is how long callers whose time is over wait for a load to say why it failed. Loads
// look at their deadline every millisecond.
const lastWord = time.Second

// loading returns the context of a load for a caller. Its deadline is a little before the
// caller's, so that the caller learns why the load failed.
func (c *Cache) loading(ctx context.Context) (context.Context, context.CancelFunc) {
	limit, own := c.options.Timeout, fair.With(c.root, fair.CallerOf(ctx))
	if deadline, ok := ctx.Deadline(); ok && limit > 0 {
		return context.WithTimeout(own, min(limit, time.Until(deadline))-limit/50)
	}
	return WithTimeout(own, limit)
}

// leave removes a caller from a flight and cancels the flight with the last one.
func (c *Cache) leave(key Key, f *flight) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.callers--; f.callers == 0 {
		f.cancel()
		c.endLocked(key, f)
	}
}

// endLocked lets later callers begin a new flight.
func (c *Cache) endLocked(key Key, f *flight) {
	if c.flights[key] == f {
		delete(c.flights, key)
	}
}

// land runs the flight and wakes its callers.
func (c *Cache) land(ctx context.Context, f *flight, key Key, load Loader) {
	defer c.loads.Done()
	defer f.cancel()
	f.answer, f.err = c.fly(ctx, key, load)
	c.mu.Lock()
	c.endLocked(key, f)
	c.mu.Unlock()
	close(f.landed)
}

// fly is the flight's body. It looks the key up again: caller A may miss, be delayed and
// begin its flight only after B has missed, computed and stored. Without the second
// look-up A would compute what B has just stored.
func (c *Cache) fly(ctx context.Context, key Key, load Loader) (*Answer, error) {
	if a, ok := c.lookup(key); ok {
		return a, nil
	}
	if key.Coding != Identity {
		plain, _, err := c.find(ctx, key.plain(), load)
		if err != nil {
			return nil, err
		}
		if !c.inFlight.Hold(plain) { // plain answers that wait for a turn would otherwise fill the memory
			return nil, ErrInFlight
		}
		defer plain.Drop()
		load = func(ctx context.Context) (*Answer, error) {
			if len(plain.Body) > LargeBytes {
				if err := fair.TurnOf(ctx).Costly(ctx); err != nil {
					return nil, err
				}
			}
			return plain.in(key.Coding, c.options.MinCoded)
		}
	}
	a, err := c.run(ctx, load)
	if err == nil {
		c.store(key, a)
	}
	return a, err
}

// LargeBytes is the size in bytes of a body beyond which it is large: to compress it needs a
// costly turn, and it may have a budget of its own.
const LargeBytes = 512 << 10

// beginLoad registers a load; false if the cache is closed.
func (c *Cache) beginLoad() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.loads.Add(1)
	}
	return !c.closed
}

// run calls load when it gets a turn. A panic becomes an error: the flight has a
// goroutine of its own, where no caller's recover could catch it.
func (c *Cache) run(ctx context.Context, load Loader) (a *Answer, err error) {
	ctx, turn, err := c.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer turn.End()
	defer func() {
		if r := recover(); r != nil {
			a, err = nil, fmt.Errorf("result: load panicked: %v\n%s", r, debug.Stack())
		}
	}()
	c.stats.loads.Add(1)
	if a, err = load(ctx); err == nil || ctx.Err() == nil {
		return a, err
	}
	var ended *fair.EndedError
	if limit := c.options.Timeout; limit > 0 && errors.As(err, &ended) && ended.Used > limit/2 {
		return nil, &rules.Error{Kind: rules.ErrWrongCall, Reason: fmt.Sprintf("The answer takes more than the %v that a request may take. A narrower filter or simpler expressions may take less.", limit)}
	}
	return nil, unavailable(ctx.Err())
}

// Begin waits for a turn for work that is no load, such as making an answer too large to keep.
// It counts as one of the parallel loads until its End or Pause. The context returned
// carries it. The error is rules.ErrUnavailable.
func (c *Cache) Begin(ctx context.Context) (context.Context, *fair.Turn, error) {
	ctx, turn, err := c.turns.Begin(ctx)
	if err != nil {
		return nil, nil, unavailable(err)
	}
	return ctx, turn, nil
}

// Arrive records a request: work that takes long yields to the requests that arrive.
func (c *Cache) Arrive() { c.turns.Arrive() }

func unavailable(cause error) error {
	return fmt.Errorf("result: %w: answer not ready: %w", rules.ErrUnavailable, cause)
}
