package citation

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"vitrine/rules"
	"vitrine/rules/lru"
)

// store keeps answers of one kind, and loads each at most once at a time.
type store[V any] struct {
	lifetime, staleFor, timeout, backoff time.Duration
	now                                  func() time.Time

	flights singleflight.Group
	root    context.Context // ends with close; the parent of every load
	cancel  context.CancelFunc

	mu      sync.Mutex
	loads   sync.WaitGroup               // Add guarded by mu, against close
	entries *lru.Cache[string, entry[V]] // guarded by mu
}

// entry is the state of one query. The store's mu guards it.
type entry[V any] struct {
	value    V
	valid    bool      // value is set
	fetched  time.Time // time of value
	failures int       // in a row since fetched
	err      error     // of the last failure
	retry    time.Time // earliest next load after a failure
}

func newStore[V any](o Options) *store[V] {
	s := &store[V]{
		lifetime: o.Lifetime, staleFor: o.StaleFor, timeout: o.Timeout, backoff: o.Backoff,
		now: o.Now, entries: lru.New[string, entry[V]](o.MaxEntries),
	}
	s.root, s.cancel = context.WithCancel(context.Background())
	return s
}

// close cancels running loads and waits for them.
func (s *store[V]) close() {
	s.mu.Lock()
	s.cancel()
	s.mu.Unlock()
	s.loads.Wait()
}

// get returns the answer for key: a fresh kept one, one from load, or a stale one if load
// fails. load runs under the store's own deadline. When ctx ends, get returns and the
// load continues for other callers.
func (s *store[V]) get(ctx context.Context, key string, load func(context.Context) (V, error)) (V, error) {
	if value, ok, err := s.lookup(key); ok {
		return value, err
	}
	flight := s.flights.DoChan(key, func() (any, error) { return s.fly(key, load) })
	select {
	case <-ctx.Done():
		var none V
		return none, fmt.Errorf("citation: wait for %s: %w", key, context.Cause(ctx))
	case landed := <-flight:
		return landed.Val.(V), landed.Err
	}
}

// lookup returns the kept answer or error; ok is false if it is time to load.
func (s *store[V]) lookup(key string) (value V, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, now := s.entries.Peek(key), s.now()
	if e == nil {
		return value, false, nil
	}
	switch {
	case e.valid && now.Before(e.fetched.Add(s.lifetime)):
	case !now.Before(e.retry):
		return value, false, nil
	case !s.servable(e, now):
		return value, true, &rules.RetryError{Err: e.err, After: e.retry.Sub(now)}
	}
	return s.entries.Get(key).value, true, nil
}

// age returns the age of an answer, and whether its lifetime is over; known is false if
// there is none.
func (s *store[V]) age(key string) (age time.Duration, stale, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries.Peek(key)
	if e == nil || !e.valid {
		return 0, false, false
	}
	age = max(s.now().Sub(e.fetched), 0)
	return age, age >= s.lifetime, true
}

// servable reports whether an entry has a value that may be served after a failure. If
// the index no longer has the user or document, the value must not be served.
func (s *store[V]) servable(e *entry[V], now time.Time) bool {
	return e.valid && !errors.Is(e.err, rules.ErrNotFound) && now.Before(e.fetched.Add(s.lifetime+max(s.staleFor, 0)))
}

// fly loads the answer. It looks the key up again: another flight may have ended between
// the caller's look-up and the start of this one.
func (s *store[V]) fly(key string, load func(context.Context) (V, error)) (V, error) {
	if value, ok, err := s.lookup(key); ok {
		return value, err
	}
	value, err := s.run(key, load)
	if err != nil {
		return s.failed(key, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries.Put(key, entry[V]{value: value, valid: true, fetched: s.now()})
	return value, nil
}

// run calls load, unless the store is closed. A panic becomes an error: the flight has a
// goroutine of its own, where no caller's recover could catch it.
func (s *store[V]) run(key string, load func(context.Context) (V, error)) (value V, err error) {
	s.mu.Lock()
	if s.root.Err() != nil {
		s.mu.Unlock()
		return value, fmt.Errorf("%w: %w: closed", ErrUnavailable, errUnasked)
	}
	s.loads.Add(1)
	s.mu.Unlock()
	defer s.loads.Done()

	ctx, cancel := context.WithTimeout(s.root, s.timeout)
	defer cancel()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: panic: %v\n%s", ErrUnavailable, r, debug.Stack())
		}
	}()
	value, err = load(ctx)
	if err != nil {
		err = fmt.Errorf("citation: %s: %w", key, err)
	}
	return value, err
}

// failed records a failure, and returns the old answer if it may be served. errUnasked is
// no failure of the query. Failures without an answer are evicted first, so that queries
// for made-up users evict only each other.
func (s *store[V]) failed(key string, err error) (V, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var none V
	e, now := s.entries.Peek(key), s.now()
	if errors.Is(err, errUnasked) && e == nil {
		return none, err
	}
	if e == nil {
		e = s.entries.PutOldest(key, entry[V]{})
	}
	if !errors.Is(err, errUnasked) {
		e.failures++
		e.err, e.retry = err, now.Add(backoff(s.backoff, e.failures))
	}
	if s.servable(e, now) {
		return e.value, nil
	}
	if e.retry.After(now) {
		err = &rules.RetryError{Err: err, After: e.retry.Sub(now)}
	}
	return none, err
}
