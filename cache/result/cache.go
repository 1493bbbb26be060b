package result

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/ristretto/v2"

	"vitrine/cache/fair"
	"vitrine/rules/flight"
	"vitrine/rules/lru"
)

// Options configures a Cache. The zero value keeps nothing, but still computes each key only once at a time.
type Options struct {
	// Budget bounds the answers kept, in bytes. If it is 0, none are kept.
	Budget int64
	// LargeBudget bounds the kept answers of more than LargeBytes, in addition to Budget. If 0, Budget includes them.
	LargeBudget int64
	// InFlight bounds the answers being made or sent, in bytes. If it is 0, there is no bound.
	InFlight int64
	// Timeout bounds one load, waiting for its turn included. If it is 0, 20 s.
	Timeout time.Duration
}

const mostKept = 16 << 20

// Sized returns options for answers that take budget bytes kept and inFlight bytes while they are made or sent, and
// the size of the largest answer to keep. That is at most a third of inFlight, so that it has room while it is sent,
// and a large one fits the half of the budget for large answers.
func Sized(budget, inFlight int64) (o Options, kept int) {
	most := min(mostKept, inFlight/3)
	if budget > 0 {
		most = min(most, max(budget/2, LargeBytes))
	}
	o = Options{Budget: budget, InFlight: inFlight}
	if most > LargeBytes {
		o.LargeBudget = budget / 2
		o.Budget -= o.LargeBudget
	}
	return o, int(most)
}

// maxWaiting is how many loads may wait for their turn; one more fails at once.
const maxWaiting = 1000

// maxAge bounds how long an answer stays in memory, except for large ones in LargeBudget.
const maxAge = 30 * time.Minute

// Key names an answer by everything it depends on.
type Key struct {
	View       string
	Epoch      string
	Generation uint64
	// publication time of Generation, in Unix milliseconds: a store restored from a backup can have a generation
	// twice
	Published int64
	Query     string // canonical: equivalent queries have the same text
	Coding    Coding
}

func (k Key) plain() Key {
	k.Coding = Identity
	return k
}

// appendPlace appends the text under which the cache keeps the answer, the same for every generation: a newer answer
// replaces the older one and inherits its popularity. NUL cannot occur in the parts before Query.
func (k Key) appendPlace(b []byte) []byte {
	b = append(append(b, k.View...), 0)
	b = append(append(b, k.Coding...), 0)
	return append(b, k.Query...)
}

// entry is a kept answer with the rest of its key.
type entry struct {
	epoch      string
	generation uint64
	published  int64
	answer     *Answer
}

// of reports whether the entry is the answer for a key with the same place.
func (e entry) of(key Key) bool {
	return e.answer != nil && e.generation == key.Generation && e.epoch == key.Epoch && e.published == key.Published
}

func (e entry) newer(other entry) bool {
	return e.epoch == other.epoch && e.generation > other.generation && e.published >= other.published
}

// Cache holds answers up to a budget. Close it when done.
type Cache struct {
	timeout  atomic.Int64                    // of a load, a time.Duration
	kept     *ristretto.Cache[[]byte, entry] // nil without a budget, which keeps nothing
	large    large                           // without a budget large answers are among the others
	places   sync.Pool                       // of *[]byte, so that a hit allocates nothing
	turns    *fair.Queue
	stats    counters
	inFlight InFlight

	root   context.Context // canceled by Close; the parent context of every load
	cancel context.CancelFunc

	flights flight.Group[Key, *Answer]

	mu     sync.Mutex
	closed bool           // guarded by mu
	loads  sync.WaitGroup // mu guards Add against a concurrent Close
}

// SetTimeout sets Options.Timeout for the next loads.
func (c *Cache) SetTimeout(d time.Duration) { c.timeout.Store(int64(cmp.Or(d, 20*time.Second))) }

// entryBytes is the size of a small entry, in bytes. Most entries are larger.
const entryBytes = 4 << 10

// New returns an empty cache.
func New(o Options) (*Cache, error) {
	parallel := 2 * runtime.GOMAXPROCS(0)
	c := &Cache{large: large{budget: o.LargeBudget, kept: lru.New[string, entry](0)},
		turns: fair.New(parallel, maxWaiting)}
	c.flights.Cancel, c.flights.Grace = true, lastWord
	c.SetTimeout(o.Timeout)
	c.inFlight.third, c.large.inFlight = o.InFlight/3, &c.inFlight
	c.places.New = func() any { return new([]byte) }
	if o.Budget > 0 {
		var err error
		c.kept, err = ristretto.NewCache(&ristretto.Config[[]byte, entry]{
			NumCounters: max(10*o.Budget/entryBytes, 1000), // ristretto asks for ten counters an entry
			MaxCost:     o.Budget,
			BufferItems: 64, // as ristretto advises
			OnReject:    func(*ristretto.Item[entry]) { c.stats.rejected.Add(1) },
			OnEvict:     func(*ristretto.Item[entry]) { c.stats.evicted.Add(1) },
		})
		if err != nil {
			return nil, fmt.Errorf("result: budget of %d bytes: %w", o.Budget, err)
		}
	}
	c.root, c.cancel = context.WithCancel(context.Background())
	return c, nil
}

// InFlight returns the budget for answers in flight.
func (c *Cache) InFlight() *InFlight { return &c.inFlight }

// Largest returns the size in bytes of the largest body that the cache keeps.
func (c *Cache) Largest() int { return int(max(cmp.Or(c.large.budget, c.kept.MaxCost())-overhead, 0)) }

// Close cancels running loads, waits for them and frees the cache. No call of Get may be running; later calls fail.
func (c *Cache) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.cancel()
	c.loads.Wait()
	c.kept.Close()
}

// Lookup returns the answer for key if it is in memory, or nil. It does not count a miss: the caller then calls Load.
func (c *Cache) Lookup(key Key) *Answer {
	a := c.lookup(key)
	if a != nil {
		c.stats.hits.Add(1)
	}
	return a
}

func (c *Cache) lookup(key Key) *Answer {
	if found := c.at(key); found.of(key) {
		return found.answer
	}
	return nil
}

// at returns the entry in the place of a key, or the zero entry.
func (c *Cache) at(key Key) entry {
	place := c.places.Get().(*[]byte)
	*place = key.appendPlace((*place)[:0])
	found, ok := c.kept.Get(*place)
	if !ok {
		found = c.large.get(string(*place))
	}
	c.places.Put(place) // safe to reuse: ristretto keeps only the hash of a place
	return found
}

// store keeps an answer, unless the cache has one of a newer generation. Ristretto writes through a buffer: waiting
// for it costs a microsecond, but a request that does not see the answer yet would compute it again.
func (c *Cache) store(key Key, a *Answer) {
	e := entry{key.Epoch, key.Generation, key.Published, a}
	if c.at(key).newer(e) {
		return
	}
	place := key.appendPlace(nil)
	if c.large.budget > 0 && len(a.Body) > LargeBytes {
		c.kept.Del(place)
		evicted, ok := c.large.set(string(place), e)
		c.stats.evicted.Add(uint64(evicted))
		if !ok {
			c.stats.rejected.Add(1)
		}
	} else {
		c.large.drop(string(place))
		if !c.kept.SetWithTTL(place, e, a.cost(), maxAge) && c.kept != nil {
			c.stats.rejected.Add(1)
		}
	}
	c.kept.Wait()
}

// Stats counts the outcomes of Get since New, and the memory now in use.
type Stats struct {
	Hits     uint64 // answered from memory
	Loads    uint64 // computations begun, including compressions
	Shared   uint64 // answered by another caller's computation
	Errors   uint64 // calls that ended with an error
	Rejected uint64 // answers not kept: too large, too rare, or dropped under load
	Evicted  uint64 // answers that made room for others
	Bytes    int64  // bytes kept now, including large answers
	Budget   int64  // bound of Bytes
	InFlight int64  // bytes of answers being made or sent
	Turns    fair.Stats
}

type counters struct {
	hits, loads, shared, errors, rejected, evicted atomic.Uint64
}

// Stats returns the counters, read one by one: under load their sums may be off.
func (c *Cache) Stats() Stats {
	n := &c.stats
	s := Stats{
		Hits: n.hits.Load(), Loads: n.loads.Load(), Shared: n.shared.Load(), Errors: n.errors.Load(),
		Rejected: n.rejected.Load(), Evicted: n.evicted.Load(), InFlight: c.inFlight.Bytes(), Turns: c.turns.Stats(),
	}
	s.Bytes, s.Budget = c.large.used()
	s.Bytes += c.kept.MaxCost() - c.kept.RemainingCost()
	s.Budget += c.kept.MaxCost()
	return s
}
