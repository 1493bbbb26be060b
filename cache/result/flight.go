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
	"vitrine/rules/flight"
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
//
// The caller waits for two flights, one after the other, if it wants a coding: callers of all codings share the load.
func (c *Cache) Load(ctx context.Context, key Key, load Loader) (*Answer, Outcome, error) {
	a, outcome, err := c.share(ctx, key.plain(),
		func(ctx context.Context) (*Answer, error) { return c.run(ctx, load) })
	if plain := a; err == nil && key.Coding != Identity {
		a, outcome, err = c.share(ctx, key, func(ctx context.Context) (*Answer, error) {
			return c.compress(ctx, plain, key.Coding)
		})
	}
	switch {
	case err != nil:
		c.stats.errors.Add(1)
	case outcome == Shared:
		c.stats.shared.Add(1)
	}
	return a, outcome, err
}

// share returns what one of the concurrent callers makes for a key.
func (c *Cache) share(ctx context.Context, key Key, load Loader) (*Answer, Outcome, error) {
	account := fair.AccountOf(ctx) // the caller's context must not be used when the caller has left
	latest, limited := ctx.Deadline()
	a, role, err := c.flights.Do(ctx, key, func(left context.Context) (*Answer, error) {
		if !c.beginLoad() {
			return nil, unavailable(context.Canceled)
		}
		defer c.loads.Done()
		end := time.Now().Add(time.Duration(c.timeout.Load()))
		if limited && latest.Before(end) { // a longer load would keep its place in a store's queue without a caller
			end = latest
		}
		ctx, cancel := context.WithDeadline(fair.With(c.root, account), end)
		defer cancel()
		defer context.AfterFunc(left, cancel)()
		a, err := c.fly(ctx, key, load)
		if errors.Is(err, fair.ErrLate) || ctx.Err() != nil && errors.Is(err, rules.ErrUnavailable) {
			err = flight.Expired(err)
		}
		return a, err
	})
	switch role {
	case flight.Began:
		return a, Loaded, err
	case flight.Left:
		return nil, Shared, unavailable(err)
	}
	return a, Shared, err
}

// lastWord is how long callers whose deadline has passed wait for a load to return its error.
const lastWord = time.Second

// fly is the body of the flight. It looks up the key again: another flight may have stored the answer after this
// one's caller missed it and before it began.
func (c *Cache) fly(ctx context.Context, key Key, load Loader) (*Answer, error) {
	if a := c.lookup(key); a != nil {
		return a, nil
	}
	a, err := load(ctx)
	if err == nil {
		c.store(key, a)
	}
	return a, err
}

// compress returns a plain answer in a coding, or itself if it is too large.
func (c *Cache) compress(ctx context.Context, plain *Answer, coding Coding) (*Answer, error) {
	if plain.TooLarge {
		return plain, nil
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
		return plain.in(coding)
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

// NoteRequest notes that a request has arrived. Work that takes long yields to arriving requests.
func (c *Cache) NoteRequest() { c.turns.NoteRequest() }

func unavailable(cause error) error {
	return fmt.Errorf("result: %w: answer not ready: %w", rules.ErrUnavailable, cause)
}
