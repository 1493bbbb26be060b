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
	// A body below it fits in one packet anyway.
	defaultMinCoded = 1024
)

// Options configures a Cache. The zero value keeps nothing and still computes
// each key once at a time.
type Options struct {
	// Budget is how many bytes of answers are kept. If it is 0, none are.
	Budget int64
	// BlockBudget is how many bytes of compressed blocks are kept. If it is 0, none are.
	BlockBudget int64
	// InFlight is how many bytes answers may take that are being made or sent. If it is
	// 0, they are not bounded.
	InFlight int64
	// Timeout bounds one load, waiting for its turn included. If it is 0, 20 s.
	Timeout time.Duration
	// MaxAge bounds how long an answer of a past generation takes up room. If it is 0, 30 min.
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
	Query      string // canonical: what means the same is written the same
	Coding     Coding

	block bool // no answer, but what large ones are put together from
}

// appendPlace writes where the answer is kept, which is the same place for every
// generation: a newer answer takes that of the one before, and the popularity that
// goes with it. NUL cannot occur in the parts before Query.
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

// entry is what is kept: an answer and the rest of its key.
type entry struct {
	epoch      string
	generation uint64
	answer     *Answer
}

// Loader computes the plain answer of a key. It must give the same bytes for
// the same key, and end soon after its context does.
type Loader func(context.Context) (*Answer, error)

// Outcome says where an answer came from.
type Outcome string

// The outcomes of Get.
const (
	Hit    Outcome = "hit"    // it was there
	Loaded Outcome = "loaded" // this caller's loader made it
	Shared Outcome = "shared" // another caller's loader made it meanwhile
)

// Cache holds answers up to a budget. Close it when done.
type Cache struct {
	kept    *ristretto.Cache[[]byte, entry] // nil without a budget
	blocks  *ristretto.Cache[[]byte, entry] // likewise: many small answers never push them out
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

// flight is a load that callers wait for. It ends when the last of them has left.
type flight struct {
	callers int // guarded by the cache's mu
	cancel  context.CancelFunc
	landed  chan struct{} // closed when answer and err are there
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
	if c.kept, err = c.newKept(o.Budget, 4<<10); err != nil { // an answer is seldom smaller
		return nil, err
	}
	if c.blocks, err = c.newKept(o.BlockBudget, 16<<10); err != nil {
		return nil, err
	}
	c.root, c.cancel = context.WithCancel(context.Background())
	return c, nil
}

// newKept returns memory for entries of about a size; nil without a budget.
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

// keptOf is where the answer for a key is kept; nil if nowhere.
func (c *Cache) keptOf(key Key) *ristretto.Cache[[]byte, entry] {
	if key.block {
		return c.blocks
	}
	return c.kept
}

// InFlight is the memory of answers in flight.
func (c *Cache) InFlight() *InFlight { return &c.inFlight }

// Close ends running loads, waits for them and frees the cache. No call of Get
// may be under way; later ones fail with rules.ErrUnavailable.
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

// Lookup returns the answer for key if it is in memory. A miss is not counted:
// Get follows it.
func (c *Cache) Lookup(key Key) (*Answer, bool) {
	a, ok := c.lookup(key)
	if ok {
		c.stats.hits.Add(1)
	}
	return a, ok
}

// Get returns the answer for key, from memory or by load. What it loads is in memory
// when it returns, unless there is no room. It returns when ctx ends, while the load
// goes on as long as others wait for it. The load's time is charged to the caller of ctx
// (see fair.With) who began it. Errors are load's own, rules.ErrUnavailable with the
// cause where the deadline struck or ctx ended, and never kept.
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

// find is Get without counting the call: a flight for a coded answer asks for
// the plain one through it, and that is no call of anybody's.
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

// leave takes a caller out of a flight, which ends with the last. Who comes later
// begins another.
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

// land flies and tells those who wait.
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

// fly is the flight's body. Caller A may find nothing, be held up, and take off
// only after B has found nothing, flown and stored; without looking again A
// would compute what B has just stored.
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
		if !c.inFlight.Hold(a) { // as many plain answers as may wait for their turn would fill any memory
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

// largeBody is from how many bytes on compressing takes long, for those who wait beside.
const largeBody = 512 << 10

// takeOff registers a load, unless the cache is closed.
func (c *Cache) takeOff() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.loads.Add(1)
	}
	return !c.closed
}

// run calls load when it is its turn. A panic becomes an error: the flight's
// goroutine belongs to nobody who could catch it.
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

// Turn runs work that is no load, such as answers too large to keep, as one of the
// loads that run at a time; the context it is given carries the turn. Errors are those of
// work, or rules.ErrUnavailable where its turn did not come.
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

// Prepare computes the answer for a key of a generation that is about to be shown,
// and the plain one it is coded from. They are kept when the returned function is
// called, unless the cache is closed by then; until then those of the generation before
// stay. Errors are as those of Get.
func (c *Cache) Prepare(ctx context.Context, key Key, load Loader) (keep func(), err error) {
	if !c.takeOff() {
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
		if !c.takeOff() {
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

// store keeps an answer, unless that of a newer generation is there: a request that
// still holds the snapshot before has come late. Ristretto stores behind a buffer; to
// wait for it costs a microsecond, and to compute an answer again, because the one just
// computed cannot be seen yet, much more.
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
