package fair

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"time"

	"vitrine/rules"
)

const (
	// recovery is how long a client's time counts against it, as a multiple.
	recovery = 10
	// maxDebtors bounds how many clients are remembered.
	maxDebtors = 1 << 14
)

// errCrowded: more wait than can be served in a while; to wait as well would only
// make everybody wait longer.
var errCrowded = fmt.Errorf("%w: too many answers are waited for", rules.ErrUnavailable)

// Queue gives turns to work. It is safe for concurrent use.
type Queue struct {
	most int // that may wait for turns of one kind

	mu       sync.Mutex
	ordinary desk                       // guarded by mu
	costly   desk                       // guarded by mu
	debts    map[netip.Prefix]time.Time // guarded by mu: until when a client's time counts against it
}

// desk is where turns of one kind are given.
type desk struct {
	free    int
	waiting []*waiter // in the order in which they came
}

// waiter is work that waits for a turn.
type waiter struct {
	turn  *Turn
	given chan struct{} // closed when it has its turn
}

// New returns a queue of so many ordinary turns at a time; as many works as waiting
// may wait for a turn of one kind. One more fails at once with rules.ErrUnavailable.
func New(parallel, waiting int) *Queue {
	return &Queue{
		most: waiting, ordinary: desk{free: parallel}, costly: desk{free: max(runtime.GOMAXPROCS(0)-1, 1)},
		debts: map[netip.Prefix]time.Time{},
	}
}

// take waits for a turn at a desk.
func (q *Queue) take(ctx context.Context, d *desk, t *Turn) error {
	q.mu.Lock()
	if d.free > 0 {
		d.free--
		q.mu.Unlock()
		return nil
	}
	if len(d.waiting) >= q.most {
		q.mu.Unlock()
		return errCrowded
	}
	w := &waiter{turn: t, given: make(chan struct{})}
	d.waiting = append(d.waiting, w)
	q.mu.Unlock()
	select {
	case <-w.given:
		return nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(d.waiting, w); i >= 0 {
		d.waiting = slices.Delete(d.waiting, i, i+1)
	} else {
		q.passLocked(d) // it was given meanwhile
	}
	return context.Cause(ctx)
}

// give gives a turn back after a time of work.
func (q *Queue) give(d *desk, client netip.Prefix, took time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.chargeLocked(client, took)
	q.passLocked(d)
}

// wanted reports whether work waits at a desk.
func (q *Queue) wanted(d *desk) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(d.waiting) > 0
}

// used returns how much time counts against a client.
func (q *Queue) used(client netip.Prefix) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	return time.Until(q.debts[client]) / recovery
}

// chargeLocked counts a time against a client. The program's own work is not charged.
func (q *Queue) chargeLocked(client netip.Prefix, took time.Duration) {
	if !client.IsValid() {
		return
	}
	now := time.Now()
	debt, known := q.debts[client]
	if !known && len(q.debts) >= maxDebtors {
		for other, until := range q.debts {
			if until.Before(now) {
				delete(q.debts, other)
			}
		}
		if len(q.debts) >= maxDebtors {
			return
		}
	}
	if debt.Before(now) {
		debt = now
	}
	q.debts[client] = debt.Add(recovery * took)
}

// passLocked hands a free turn to the work that comes next.
func (q *Queue) passLocked(d *desk) {
	if len(d.waiting) == 0 {
		d.free++
		return
	}
	now := time.Now()
	debt := func(w *waiter) time.Duration { return max(q.debts[w.turn.client].Sub(now), 0) }
	next := slices.MinFunc(d.waiting, func(a, b *waiter) int {
		return cmp.Or(cmp.Compare(debt(a), debt(b)), cmp.Compare(a.turn.used, b.turn.used))
	})
	i := slices.Index(d.waiting, next)
	d.waiting = slices.Delete(d.waiting, i, i+1)
	close(next.given)
}
