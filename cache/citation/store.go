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

// store keeps answers of one kind, and asks for each at most once at a time.
type store[V any] struct {
	lifetime, staleFor, timeout, backoff time.Duration
	now                                  func() time.Time

	flights singleflight.Group
	root    context.Context // ends with close; the parent of every load
	cancel  context.CancelFunc

	mu      sync.Mutex
	closed  bool                         // guarded by mu
	loads   sync.WaitGroup               // Add guarded by mu, against close
	entries *lru.Cache[string, entry[V]] // guarded by mu
}

// entry is what is known of one question. It is guarded by the store's mu.
type entry[V any] struct {
	value    V
	known    bool      // there is a value
	fetched  time.Time // when the value was
	failures int       // since, in a row
	err      error     // the last of them
	retry    time.Time // not asked again before
}

func newStore[V any](o Options) *store[V] {
	s := &store[V]{
		lifetime: o.Lifetime, staleFor: o.StaleFor, timeout: o.Timeout, backoff: o.Backoff,
		now: o.Now, entries: lru.New[string, entry[V]](o.MaxEntries),
	}
	s.root, s.cancel = context.WithCancel(context.Background())
	return s
}

// close ends running loads and waits for them.
func (s *store[V]) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	s.loads.Wait()
}

// get returns the answer to the question key: as kept, or from load, which runs
// under the store's own deadline, or an old one if load fails. It returns when ctx
// ends, while the load goes on for others.
func (s *store[V]) get(ctx context.Context, key string, load func(context.Context) (V, error)) (V, error) {
	if value, ok, err := s.kept(key); ok {
		return value, err
	}
	flight := s.flights.DoChan(key, func() (any, error) { return s.fly(key, load) })
	select {
	case <-ctx.Done():
		var none V
		return none, fmt.Errorf("citation: waiting for %s: %w", key, context.Cause(ctx))
	case landed := <-flight:
		return landed.Val.(V), landed.Err
	}
}

// kept returns what is known without asking; ok is false if it is time to ask.
func (s *store[V]) kept(key string) (value V, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, now := s.entries.Peek(key), s.now()
	if e == nil {
		return value, false, nil
	}
	switch {
	case e.known && now.Before(e.fetched.Add(s.lifetime)):
	case !now.Before(e.retry):
		return value, false, nil
	case !s.servable(e, now):
		return value, true, &retryError{e.err, e.retry.Sub(now)}
	}
	return s.entries.Get(key).value, true, nil
}

// knows reports whether there is an answer to a question.
func (s *store[V]) knows(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries.Peek(key)
	return e != nil && e.known
}

// age is how long ago an answer was fetched, and whether it stands in for a newer one.
func (s *store[V]) age(key string) (age time.Duration, stale bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries.Peek(key)
	if e == nil || !e.known {
		return 0, false
	}
	age = max(s.now().Sub(e.fetched), 0)
	return age, age >= s.lifetime
}

// servable reports whether an entry has a value that may stand in for a new one;
// that the index has it no more is no failure.
func (s *store[V]) servable(e *entry[V], now time.Time) bool {
	return e.known && !errors.Is(e.err, rules.ErrNotFound) && now.Before(e.fetched.Add(s.lifetime+max(s.staleFor, 0)))
}

// fly asks. Another flight may have landed between this one's caller's look and
// its take-off, so it looks again.
func (s *store[V]) fly(key string, load func(context.Context) (V, error)) (V, error) {
	if value, ok, err := s.kept(key); ok {
		return value, err
	}
	value, err := s.run(key, load)
	if err == nil {
		s.succeeded(key, value)
		return value, nil
	}
	return s.failed(key, err)
}

// run calls load, if the store is open. A panic becomes an error: the flight's
// goroutine belongs to nobody who could catch it.
func (s *store[V]) run(key string, load func(context.Context) (V, error)) (value V, err error) {
	s.mu.Lock()
	if s.closed {
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

// succeeded keeps an answer, if need be in place of the one unused for longest.
func (s *store[V]) succeeded(key string, value V) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries.Put(key, entry[V]{value: value, known: true, fetched: s.now()})
}

// failed remembers a failure, and returns the old answer if it may be served. A
// question that was not even asked has not failed. Failures without an answer are
// the first to go, so that questions for made-up users push out only each other.
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
		err = &retryError{err, e.retry.Sub(now)}
	}
	return none, err
}
