package result

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"vitrine/cache/fair"
	"vitrine/rules"
	"vitrine/rules/fault"
)

// Loader computes the plain answer of a key, the same bytes for the same key, and ends soon after its context does.
type Loader func(context.Context) (*Answer, error)

// Outcome is the origin of an answer.
type Outcome string

// The outcomes of Get and Load.
const (
	Hit    Outcome = "hit"    // the answer was in memory
	Loaded Outcome = "loaded" // this caller's loader computed the answer
	Shared Outcome = "shared" // the loader of a concurrent caller computed the answer
)

// flight is a load that callers wait for. It is cancelled when the last caller leaves.
type flight struct {
	callers int // guarded by the cache's mu
	cancel  context.CancelFunc
	landed  chan struct{} // closed when the fields below are set
	answer  *Answer
	err     error
	expired bool // the load ran out of time, or was refused because it would
}

// Get returns the answer for key, from memory or by Load.
func (c *Cache) Get(ctx context.Context, key Key, load Loader) (*Answer, Outcome, error) {
	if a := c.Lookup(key); a != nil {
		return a, Hit, nil
	}
	return c.Load(ctx, key, load)
}

// Load returns the answer for a key that is not in memory, where it then is if there is room. When ctx ends, Load
// returns; the load continues while other callers wait for it. Its time is charged to the caller whose ctx began it
// (see fair.With), and limited by that caller's deadline. Other callers, which may have more time, then load again.
// Errors are the loader's, or rules.ErrUnavailable if the deadline passed or ctx ended.
func (c *Cache) Load(ctx context.Context, key Key, load Loader) (*Answer, Outcome, error) {
	a, outcome, err := c.share(ctx, key, load)
	switch {
	case err != nil:
		c.stats.errors.Add(1)
	case outcome == Shared:
		c.stats.shared.Add(1)
	}
	return a, outcome, err
}

// share joins the flight for a key, or starts it, and waits until it lands.
func (c *Cache) share(ctx context.Context, key Key, load Loader) (*Answer, Outcome, error) {
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
		loading, f.cancel = context.WithDeadline(fair.With(c.root, fair.AccountOf(ctx)), c.deadline(ctx))
		go func() {
			defer c.loads.Done()
			defer f.cancel()
			f.answer, f.err = c.fly(loading, key, load)
			f.expired = errors.Is(f.err, fair.ErrLate) ||
				loading.Err() != nil && errors.Is(f.err, rules.ErrUnavailable)
			c.mu.Lock()
			c.endLocked(key, f)
			c.mu.Unlock()
			close(f.landed)
		}()
	}
	f.callers++
	c.mu.Unlock()
	select {
	case <-f.landed:
		if f.expired && outcome == Shared && ctx.Err() == nil {
			return c.share(ctx, key, load)
		}
		return f.answer, outcome, f.err
	case <-ctx.Done():
	}
	if ctx.Err() == context.DeadlineExceeded { // the load's deadline passes at about the same time
		select {
		case <-f.landed:
			return f.answer, outcome, f.err
		case <-time.After(lastWord):
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.callers--; f.callers == 0 {
		f.cancel()
		c.endLocked(key, f)
	}
	return nil, Shared, unavailable(context.Cause(ctx))
}

// deadline returns when a load for a caller ends: with the caller's deadline. With a later one, a load would keep its
// place in a store's queue after its caller has left.
func (c *Cache) deadline(ctx context.Context) time.Time {
	end := time.Now().Add(time.Duration(c.timeout.Load()))
	if d, ok := ctx.Deadline(); ok && d.Before(end) {
		return d
	}
	return end
}

// lastWord is how long callers whose deadline has passed wait for a load to return its error.
const lastWord = time.Second

// endLocked lets later callers begin a new flight.
func (c *Cache) endLocked(key Key, f *flight) {
	if c.flights[key] == f {
		delete(c.flights, key)
	}
}

// fly is the body of the flight. It looks up the key again: another flight may have stored the answer after this
// one's caller missed it and before it began.
func (c *Cache) fly(ctx context.Context, key Key, load Loader) (*Answer, error) {
	if a := c.lookup(key); a != nil {
		return a, nil
	}
	var a *Answer
	var err error
	if key.Coding == Identity {
		a, err = c.run(ctx, load)
	} else {
		a, err = c.compressed(ctx, key, load)
	}
	if err == nil {
		c.store(key, a)
	}
	return a, err
}

// compressed compresses the plain answer of a key, which it gets like any other caller.
func (c *Cache) compressed(ctx context.Context, key Key, load Loader) (*Answer, error) {
	plain, _, err := c.share(ctx, key.plain(), load)
	if err != nil || plain.TooLarge {
		return plain, err
	}
	if !c.inFlight.Retain(plain) { // otherwise plain answers that wait for a turn could fill the memory
		return nil, ErrInFlight
	}
	defer plain.Release()
	return c.run(ctx, func(ctx context.Context) (*Answer, error) {
		if len(plain.Body) > LargeBytes {
			if err := fair.TurnOf(ctx).Costly(ctx); err != nil {
				return nil, err
			}
		}
		return plain.in(key.Coding)
	})
}

// LargeBytes is the size above which compressing a body needs a costly turn, and it may have its own budget.
const LargeBytes = 512 << 10

// Prepare computes the answer for a key of a generation that is about to be published. keep stores it and its plain
// form, unless the cache is closed; until then the previous generation's answers stay. It has no time limit but ctx.
func (c *Cache) Prepare(ctx context.Context, key Key, load Loader) (keep func(), err error) {
	if !c.beginLoad() {
		return nil, unavailable(context.Canceled)
	}
	defer c.loads.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.root, cancel)()
	loaded, err := c.run(ctx, load)
	if err != nil {
		return nil, err
	}
	coded, err := loaded.in(key.Coding)
	if err != nil {
		return nil, err
	}
	return func() {
		if !c.beginLoad() {
			return
		}
		defer c.loads.Done()
		if loaded.Coding == Identity {
			c.store(key.plain(), loaded)
		}
		c.store(key, coded)
	}, nil
}

// beginLoad registers a load. It returns false if the cache is closed.
func (c *Cache) beginLoad() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.loads.Add(1)
	}
	return !c.closed
}

// run calls load when it gets a turn. A panic becomes an error, because no caller's recover could catch it.
func (c *Cache) run(ctx context.Context, load Loader) (a *Answer, err error) {
	ctx, turn, err := c.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer turn.End()
	defer fault.Panics()()
	defer func() {
		if r := recover(); r != nil {
			fault.Report(r)
			a, err = nil, fmt.Errorf("result: load panicked: %v\n%s", r, debug.Stack())
		}
	}()
	c.stats.loads.Add(1)
	before := processorTime()
	if a, err = load(ctx); err == nil || ctx.Err() == nil {
		return a, err
	}
	var ended *fair.EndedError
	// On a machine that is busy with other work the answer may take less time at the next attempt.
	if limit := time.Duration(c.timeout.Load()); errors.As(err, &ended) &&
		min(ended.Used, processorTime()-before) > limit/2 {
		return nil, &rules.Error{Kind: rules.ErrWrongCall,
			Reason: fmt.Sprintf(
				"The answer takes more than the %v that a request may take. A narrower filter or simpler "+
					"expressions may take less.", limit)}
	}
	return nil, unavailable(ctx.Err())
}

// Begin waits for a turn for work other than a load, until End or Pause. The error is rules.ErrUnavailable.
func (c *Cache) Begin(ctx context.Context) (context.Context, *fair.Turn, error) {
	ctx, turn, err := c.turns.Begin(ctx)
	if err != nil {
		return nil, nil, unavailable(err)
	}
	return ctx, turn, nil
}

// Arrive records a request. Work that takes long yields to arriving requests.
func (c *Cache) Arrive() { c.turns.Arrive() }

func unavailable(cause error) error {
	return fmt.Errorf("result: %w: answer not ready: %w", rules.ErrUnavailable, cause)
}
