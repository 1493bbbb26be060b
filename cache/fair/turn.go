package fair

import (
	"cmp"
	"context"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"vitrine/rules/filter"
	"vitrine/rules/parallel"
	"vitrine/rules/pcre"
)

const (
	// ordinaryTurn is the longest ordinary turn, briefTurn the longest one of a client
	// that has used more than heavyUse lately.
	ordinaryTurn, briefTurn = 20 * time.Millisecond, 2 * time.Millisecond
	heavyUse                = 100 * time.Millisecond
	// quantum is how long work keeps a costly turn that others wait for.
	quantum = 10 * time.Millisecond
	// checkInterval is how often work yields its processor. Costly work sleeps for
	// costlyPause: work that never sleeps keeps its processor until the system preempts it.
	checkInterval, costlyPause = time.Millisecond, 100 * time.Microsecond
)

// Caller is the client behind a piece of work.
type Caller struct {
	// Client is charged for the time. The zero Client is the program itself, which
	// always goes first.
	Client netip.Prefix
	// Backtracking is the budget of the request's filters for backtracking
	// expressions. If nil, each match has its own limit.
	Backtracking *pcre.Budget
}

type callerKey struct{}
type turnKey struct{}

// With returns a context for work of a caller.
func With(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf returns the caller that a context carries, the zero Caller if it carries none.
func CallerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}

// Bound binds a filter to the backtracking budget of the context's caller, and to the turn.
func Bound(ctx context.Context, f *filter.Filter) *filter.Filter {
	c := CallerOf(ctx)
	if c.Backtracking == nil {
		return f
	}
	turn := TurnOf(ctx)
	bound := f.Within(c.Backtracking, func() error { return turn.Check(ctx) })
	if turn != nil && bound != f {
		turn.backtracks.Store(true)
	}
	return bound
}

// Turn is the right to use a processor. Work without a queue has a nil Turn. Its
// methods are safe for concurrent use.
type Turn struct {
	queue  *Queue
	client netip.Prefix
	start  time.Time
	due    atomic.Int64 // time after start at which Check next yields
	costly atomic.Bool
	// backtracks is set if a match of the filter may take long and cannot be interrupted.
	backtracks atomic.Bool
	limit      time.Duration // of the ordinary turn

	mu    sync.Mutex
	pool  *pool         // guarded by mu: owner of the turn; nil while waiting and after End
	since time.Time     // guarded by mu: start of the time not charged yet
	used  time.Duration // guarded by mu, and by the queue's mu while waiting: time charged so far
}

// Begin waits for a turn for the work of a context. The context returned carries it;
// End gives it back. Errors are the context's cause and rules.ErrUnavailable.
func (q *Queue) Begin(ctx context.Context) (context.Context, *Turn, error) {
	t := &Turn{queue: q, client: CallerOf(ctx).Client, pool: &q.ordinary, limit: ordinaryTurn}
	if err := q.acquire(ctx, t.pool, t); err != nil {
		return nil, nil, err
	}
	if q.used(t.client) > heavyUse {
		t.limit = briefTurn
	}
	t.start = time.Now()
	t.since = t.start
	t.due.Store(int64(checkInterval))
	return context.WithValue(ctx, turnKey{}, t), t, nil
}

// TurnOf returns the turn that a context carries; nil if it carries none.
func TurnOf(ctx context.Context) *Turn {
	t, _ := ctx.Value(turnKey{}).(*Turn)
	return t
}

// End returns the turn.
func (t *Turn) End() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pool != nil {
		t.queue.release(t.pool, t.client, time.Since(t.since))
		t.pool = nil
	}
}

// Check is to be called about every millisecond of work. It waits while other work goes
// first, and fails with the context's cause when no caller waits for the work any more.
func (t *Turn) Check(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if t == nil || time.Since(t.start) < time.Duration(t.due.Load()) {
		return nil
	}
	return t.yield(ctx, false)
}

// Costly makes the turn costly before work that is known to take long.
func (t *Turn) Costly(ctx context.Context) error {
	if t == nil || t.isCostly() {
		return nil
	}
	return t.yield(ctx, true)
}

// yield lets other work run. It makes an ordinary turn costly when its time is over, or
// now. It passes a costly turn on if other work waits for one.
func (t *Turn) yield(ctx context.Context, now bool) error {
	if t.costly.Load() {
		time.Sleep(costlyPause)
	} else {
		runtime.Gosched()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if ctx.Err() != nil { // while another goroutine of the work waited for its turn
		return context.Cause(ctx)
	}
	q, took := t.queue, time.Since(t.since)
	t.due.Store(int64(time.Since(t.start) + checkInterval))
	switch ordinary := t.pool == &q.ordinary; {
	case t.pool == nil || ordinary && took < t.limit && !now || !ordinary && took < quantum:
		return nil
	case !ordinary && !q.hasWaiters(t.pool):
		return nil
	}
	t.used += took
	q.release(t.pool, t.client, took)
	t.costly.Store(true)
	t.pool = nil
	if err := q.acquire(ctx, &q.costly, t); err != nil {
		return err
	}
	t.pool, t.since = &q.costly, time.Now()
	return nil
}

// batch is the number of work items between two checks of the turn.
const batch = 16

// Share calls work for 0, 1, … n-1 on several processors, in no particular order, and
// waits for it. Once the turn becomes costly, the items run one at a time, and the other
// goroutines end with their batches. Share ends at the first error of work or Turn.Check.
func Share(ctx context.Context, n int, work func(i int) error) error {
	const least = 512 // fewer items are not worth a goroutine
	turn := TurnOf(ctx)
	var next atomic.Int64 // the first item that belongs to no batch yet
	var alone sync.Mutex  // held by an item of costly work
	do := func(i int) error {
		if turn.isCostly() {
			alone.Lock()
			defer alone.Unlock()
		}
		return work(i)
	}
	doBatches := func(helper bool) (err error) {
		for err == nil && (!helper || !turn.isCostly()) {
			from := int(next.Add(batch)) - batch
			if from >= n {
				return nil
			}
			for i := from; i < min(from+batch, n) && err == nil; i++ {
				err = do(i)
			}
			if err == nil {
				err = turn.Check(ctx)
			}
		}
		if err != nil {
			next.Store(int64(n)) // no goroutine begins another batch
		}
		return err
	}
	errs := make([]error, min(Workers(ctx), n/least+1))
	var helpers parallel.Group
	for w := 1; w < len(errs); w++ {
		helpers.Go(func() { errs[w] = doBatches(true) })
	}
	errs[0] = doBatches(false)
	helpers.Wait()
	return cmp.Or(errs...)
}

// isCostly reports whether the turn is costly; a nil one never is.
func (t *Turn) isCostly() bool { return t != nil && t.costly.Load() }

// Workers returns how many goroutines the work of a context may use: one for each
// processor, or only one if the turn is costly or likely to become so, because its
// filter backtracks or its client has used much time lately.
func Workers(ctx context.Context) int {
	if t := TurnOf(ctx); t != nil && (t.isCostly() || t.backtracks.Load() || t.limit == briefTurn) {
		return 1
	}
	return runtime.GOMAXPROCS(0)
}
