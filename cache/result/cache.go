package result

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/dgraph-io/ristretto/v2"
	"vitrine/cache/fair"
	"vitrine/rules"
)

// Defaults of Options.
const (
	defaultTimeout = 20 * time.Second
	defaultMaxAge  = 30 * time.Minute
	defaultWaiting = 1000
	// A smaller body fits in one packet anyway.
	defaultMinCoded = 1024
)

// Options configures a Cache. The zero value keeps nothing and still computes
// each key once at a time.
type Options struct {
	// Budget bounds the answers kept, in bytes. If it is 0, none are kept.
	Budget int64
	// BlockBudget bounds the compressed blocks kept, in bytes. If it is 0, none are kept.
	BlockBudget int64
	// InFlight bounds the answers being made or sent, in bytes. If it is 0, there is no
	// bound.
	InFlight int64
	// Timeout bounds one load, waiting for its turn included. If it is 0, 20 s.
	Timeout time.Duration
	// MaxAge bounds how long an answer stays in memory. If it is 0, 30 min.
	MaxAge time.Duration
	// MinCoded is the size in bytes from which a body is compressed. If it is 0, 1,024.
	MinCoded int
	// Parallel is how many loads run at a time. If it is 0, two for every processor.
	Parallel int
	// Waiting is how many loads may wait for their turn; one more fails at once with
	// rules.ErrUnavailable. If it is 0, 1,000.
	Waiting int
}

// Key names an answer by everything it depends on.
type Key struct {
	View       string
	Epoch      string
	Generation uint64
	Query      string // canonical: equivalent queries have the same text
	Coding     Coding

	block bool // names a Block instead of an answer
}

// appendPlace appends the key under which ristretto keeps the answer. It is the same
// for every generation: a newer answer replaces the older one and inherits its
// popularity. NUL cannot occur in the parts before Query.
func (k Key) appendPlace(b []byte) []byte {
	b = append(append(b, k.View...), 0)
	b = append(append(b, k.Coding...), 0)
	return append(b, k.Query...)
}

// flight names the flight for the key.
func (k Key) flight() string {
	b := append(append([]byte(nil), k.Epoch...), 0)
	b = append(strconv.AppendUint(b, k.Generation, 36), 0)
	return string(k.appendPlace(b))
}

// entry is a kept answer with the rest of its key.
type entry struct {
	epoch      string
	generation uint64
	answer     *Answer
}

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

// Cache holds answers up to a budget. Close it when done.
type Cache struct {
	kept    *ristretto.Cache[[]byte, entry] // nil without a budget
	blocks  *ristretto.Cache[[]byte, entry] // nil without a budget; apart, so that answers never evict blocks
	places  sync.Pool                       // of *[]byte, so that a hit allocates nothing
	turns   *fair.Queue
	timeout time.Duration
	maxAge  time.Duration
	least   int // MinCoded
	stats   counters

	inFlight  InFlight
	deflaters deflaters

	root   context.Context // ends with Close; the parent of every load
	cancel context.CancelFunc

	mu      sync.Mutex
	closed  bool               // guarded by mu
	loads   sync.WaitGroup     // Add guarded by mu, against Close
	flights map[string]*flight // guarded by mu
}

// flight is a load that callers wait for. It is cancelled when the last of them leaves.
type flight struct {
	callers int // guarded by the cache's mu
	cancel  context.CancelFunc
	landed  chan struct{} // closed when answer and err are set
	answer  *Answer
	err     error
}

// New returns an empty cache.
func New(o Options) (*Cache, error) {
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	if o.MaxAge == 0 {
		o.MaxAge = defaultMaxAge
	}
	if o.MinCoded == 0 {
		o.MinCoded = defaultMinCoded
	}
	if o.Parallel == 0 {
		o.Parallel = 2 * runtime.GOMAXPROCS(0)
	}
	if o.Waiting == 0 {
		o.Waiting = defaultWaiting
	}
	c := &Cache{
		turns: fair.New(o.Parallel, o.Waiting), flights: map[string]*flight{},
		timeout: o.Timeout, maxAge: o.MaxAge, least: o.MinCoded,
	}
	c.inFlight.init(o.InFlight)
	c.places.New = func() any { return new([]byte) }
	var err error
	if c.kept, err = c.newKept(o.Budget, 4<<10); err != nil { // few answers are smaller
		return nil, err
	}
	if c.blocks, err = c.newKept(o.BlockBudget, 16<<10); err != nil {
		return nil, err
	}
	c.root, c.cancel = context.WithCancel(context.Background())
	return c, nil
}

// newKept returns a store for entries of about size bytes; nil without a budget.
func (c *Cache) newKept(budget, size int64) (*ristretto.Cache[[]byte, entry], error) {
	if budget <= 0 {
		return nil, nil
	}
	kept, err := ristretto.NewCache(&ristretto.Config[[]byte, entry]{
		NumCounters: max(10*budget/size, 1000), // ristretto asks for ten counters an entry
		MaxCost:     budget,
		BufferItems: 64,
		OnReject:    func(*ristretto.Item[entry]) { c.stats.rejected.Add(1) },
		OnEvict:     func(*ristretto.Item[entry]) { c.stats.evicted.Add(1) },
	})
	if err != nil {
		return nil, fmt.Errorf("result: budget of %d bytes: %w", budget, err)
	}
	return kept, nil
}

// keptOf returns the store for a key; nil if it has no budget.
func (c *Cache) keptOf(key Key) *ristretto.Cache[[]byte, entry] {
	if key.block {
		return c.blocks
	}
	return c.kept
}

// InFlight returns the budget for answers in flight.
func (c *Cache) InFlight() *InFlight { return &c.inFlight }

// Close cancels running loads, waits for them and frees the cache. No call of Get may
// be running; later calls fail with rules.ErrUnavailable.
func (c *Cache) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.cancel()
	c.loads.Wait()
	for _, kept := range []*ristretto.Cache[[]byte, entry]{c.kept, c.blocks} {
		if kept != nil {
			kept.Close()
		}
	}
}

// Lookup returns the answer for key if it is in memory. It does not count a miss: the
// caller then calls Get.
func (c *Cache) Lookup(key Key) (*Answer, bool) {
	a, ok := c.lookup(key)
	if ok {
		c.stats.hits.Add(1)
	}
	return a, ok
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
	name, outcome := key.flight(), Shared
	c.mu.Lock()
	f := c.flights[name]
	if f == nil {
		if c.closed {
			c.mu.Unlock()
			return nil, Shared, unavailable(context.Canceled)
		}
		outcome = Loaded
		f = &flight{landed: make(chan struct{})}
		c.flights[name] = f
		c.loads.Add(1)
		var loading context.Context
		loading, f.cancel = context.WithTimeout(fair.With(c.root, fair.CallerOf(ctx)), c.timeout)
		go c.land(loading, name, f, key, load)
	}
	f.callers++
	c.mu.Unlock()
	select {
	case <-f.landed:
		return f.answer, outcome, f.err
	case <-ctx.Done():
		c.leave(name, f)
		return nil, Shared, unavailable(context.Cause(ctx))
	}
}

// leave removes a caller from a flight and cancels the flight with the last one. Later
// callers begin a new flight.
func (c *Cache) leave(name string, f *flight) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.callers--; f.callers > 0 {
		return
	}
	f.cancel()
	if c.flights[name] == f {
		delete(c.flights, name)
	}
}

// land runs the flight and wakes its callers.
func (c *Cache) land(ctx context.Context, name string, f *flight, key Key, load Loader) {
	defer c.loads.Done()
	defer f.cancel()
	f.answer, f.err = c.fly(ctx, key, load)
	c.mu.Lock()
	if c.flights[name] == f {
		delete(c.flights, name)
	}
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
		plain := key
		plain.Coding = Identity
		a, _, err := c.find(ctx, plain, load)
		if err != nil {
			return nil, err
		}
		if !c.inFlight.Hold(a) { // plain answers that wait for a turn would otherwise fill the memory
			return nil, ErrInFlight
		}
		defer c.inFlight.Release(a)
		load = func(ctx context.Context) (*Answer, error) {
			if len(a.Body) > largeBody {
				if err := fair.TurnOf(ctx).Costly(ctx); err != nil {
					return nil, err
				}
			}
			return a.in(key.Coding, c.least)
		}
	}
	a, err := c.run(ctx, load)
	if err == nil {
		c.store(key, a)
	}
	return a, err
}

// largeBody is the size in bytes from which compressing needs a costly turn.
const largeBody = 512 << 10

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
	ctx, turn, err := c.turns.Begin(ctx)
	if err != nil {
		return nil, unavailable(err)
	}
	defer turn.End()
	defer func() {
		if r := recover(); r != nil {
			a, err = nil, fmt.Errorf("result: load panicked: %v\n%s", r, debug.Stack())
		}
	}()
	c.stats.loads.Add(1)
	a, err = load(ctx)
	if err != nil && ctx.Err() != nil {
		return nil, unavailable(ctx.Err())
	}
	return a, err
}

// Turn runs work that is no load, such as making an answer too large to keep. It counts
// as one of the parallel loads, and the context passed to work carries its turn. Turn
// returns work's error, or rules.ErrUnavailable if it got no turn.
func (c *Cache) Turn(ctx context.Context, work func(context.Context) error) error {
	ctx, turn, err := c.turns.Begin(ctx)
	if err != nil {
		return unavailable(err)
	}
	defer turn.End()
	return work(ctx)
}

func unavailable(cause error) error {
	return fmt.Errorf("result: %w: answer not ready: %w", rules.ErrUnavailable, cause)
}

// Prepare computes the answer for a key of a generation that is about to be published,
// and its plain form. The returned function stores them, unless the cache is closed by
// then; until then the answers of the previous generation stay. Errors are those of Get.
func (c *Cache) Prepare(ctx context.Context, key Key, load Loader) (keep func(), err error) {
	if !c.beginLoad() {
		return nil, unavailable(context.Canceled)
	}
	defer c.loads.Done()
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	plain := key
	plain.Coding = Identity
	a, err := c.run(ctx, load)
	if err != nil {
		return nil, err
	}
	coded := a
	if key.Coding != Identity {
		if coded, err = a.in(key.Coding, c.least); err != nil {
			return nil, err
		}
	}
	return func() {
		if !c.beginLoad() {
			return
		}
		defer c.loads.Done()
		c.store(plain, a)
		if key != plain {
			c.store(key, coded)
		}
	}, nil
}

func (c *Cache) lookup(key Key) (*Answer, bool) {
	kept := c.keptOf(key)
	if kept == nil {
		return nil, false
	}
	place := c.places.Get().(*[]byte)
	*place = key.appendPlace((*place)[:0])
	found, ok := kept.Get(*place)
	c.places.Put(place) // ristretto has read it and keeps its hashes only
	if !ok || found.generation != key.Generation || found.epoch != key.Epoch {
		return nil, false
	}
	return found.answer, true
}

// store keeps an answer, unless the cache has one of a newer generation: then the request
// still uses the previous snapshot. Ristretto writes through a buffer. Waiting for it
// costs a microsecond; without, a request that does not see the answer yet would compute
// it again.
func (c *Cache) store(key Key, a *Answer) {
	kept := c.keptOf(key)
	if kept == nil {
		return
	}
	place := key.appendPlace(nil)
	if found, ok := kept.Get(place); ok && found.epoch == key.Epoch && found.generation > key.Generation {
		return
	}
	if !kept.SetWithTTL(place, entry{key.Epoch, key.Generation, a}, a.cost(), c.maxAge) {
		c.stats.rejected.Add(1)
	}
	kept.Wait()
}
