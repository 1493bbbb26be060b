package fair

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"vitrine/rules"
	"vitrine/rules/lru"
)

const (
	// recovery is how long used time counts against a client, as a multiple of that time.
	recovery = 10
	// maxClients bounds how many clients are remembered. With more, the queue forgets the least recently seen client.
	maxClients = 1 << 14
)

// errOverloaded is returned when the waiting list is full. Another waiting request would only delay all others.
var errOverloaded = fmt.Errorf("%w: too many requests are waiting", rules.ErrUnavailable)

// Queue gives turns to work. It is safe for concurrent use.
type Queue struct {
	maxWaiting int           // for turns of each kind
	arrivals   atomic.Uint64 // number of requests so far
	stats      struct{ ordinary, costly, pauses, helpers atomic.Uint64 }

	mu       sync.Mutex
	ordinary pool                                // guarded by mu
	costly   pool                                // guarded by mu
	debts    *lru.Cache[netip.Prefix, time.Time] // when each client's used time stops counting; guarded by mu
}

// pool has the turns of one kind. Its fields are guarded by the queue's mu.
type pool struct {
	free    int
	waiting []*waiter // in order of arrival
}

// waiter is work that waits for a turn of a pool.
type waiter struct {
	turn    *Turn
	granted chan struct{} // closed when the turn is granted
}

// New returns a queue with parallel ordinary turns. Up to waiting callers may wait for a turn of each kind; one more
// fails at once with rules.ErrUnavailable.
func New(parallel, waiting int) *Queue {
	return &Queue{
		maxWaiting: waiting, ordinary: pool{free: parallel}, costly: pool{free: max(runtime.GOMAXPROCS(0)-1, 1)},
		debts: lru.New[netip.Prefix, time.Time](maxClients),
	}
}

// NoteRequest notes that a request has arrived, even one that needs no turn. Costly work yields to it.
func (q *Queue) NoteRequest() { q.arrivals.Add(1) }

// Stats counts what work has done in turns.
type Stats struct {
	Ordinary, Costly uint64 // slices of about a millisecond, by the kind of their turn
	Pauses           uint64 // how often costly work slept, so that requests which arrived could go first
	Helpers          uint64 // goroutines that helped to share work
}

// Stats returns what work has done so far.
func (q *Queue) Stats() Stats {
	s := &q.stats
	return Stats{s.ordinary.Load(), s.costly.Load(), s.pauses.Load(), s.helpers.Load()}
}

// acquire waits for a turn of a pool. Work that resumes is never refused.
func (q *Queue) acquire(ctx context.Context, d *pool, t *Turn, resumes bool) error {
	q.mu.Lock()
	if d.free > 0 {
		d.free--
		q.mu.Unlock()
		return nil
	}
	if len(d.waiting) >= q.maxWaiting && !resumes {
		q.mu.Unlock()
		return errOverloaded
	}
	w := &waiter{turn: t, granted: make(chan struct{})}
	d.waiting = append(d.waiting, w)
	q.mu.Unlock()
	select {
	case <-w.granted:
		return nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(d.waiting, w); i >= 0 {
		d.waiting = slices.Delete(d.waiting, i, i+1)
	} else {
		q.handOverLocked(d) // the turn was granted while ctx ended
	}
	return context.Cause(ctx)
}

// release returns a turn and charges the client for it.
func (q *Queue) release(d *pool, client netip.Prefix, took time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if client.IsValid() { // the program's own work is not charged
		q.debts.Put(client, time.Now().Add(q.debtLocked(client)+recovery*took))
	}
	q.handOverLocked(d)
}

// hasWaiters reports whether work waits for a turn of a pool.
func (q *Queue) hasWaiters(d *pool) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(d.waiting) > 0
}

// usage returns the processor time that counts against a client.
func (q *Queue) usage(client netip.Prefix) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.debtLocked(client) / recovery
}

// debtLocked returns how long a client's used time still counts.
func (q *Queue) debtLocked(client netip.Prefix) time.Duration {
	if until := q.debts.Peek(client); until != nil {
		return max(time.Until(*until), 0)
	}
	return 0
}

// handOverLocked gives a turn to the work that goes first, or to the pool if none waits: work that others wait for,
// then the client with the least debt, then the work that has used least.
func (q *Queue) handOverLocked(d *pool) {
	if len(d.waiting) == 0 {
		d.free++
		return
	}
	next := slices.MinFunc(d.waiting, func(a, b *waiter) int {
		return cmp.Or(cmp.Compare(b.turn.shared.Load(), a.turn.shared.Load()),
			cmp.Compare(q.debtLocked(a.turn.client), q.debtLocked(b.turn.client)),
			cmp.Compare(a.turn.used, b.turn.used))
	})
	i := slices.Index(d.waiting, next)
	d.waiting = slices.Delete(d.waiting, i, i+1)
	close(next.granted)
}
