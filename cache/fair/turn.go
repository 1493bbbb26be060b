package fair

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"vitrine/rules/pcre"
)

const (
	// ordinaryTurn is the longest ordinary turn; briefTurn that of a client that has used more than heavyUse lately.
	ordinaryTurn, briefTurn = 20 * time.Millisecond, 2 * time.Millisecond
	heavyUse                = 100 * time.Millisecond
	// quantum is how long work keeps a costly turn that others wait for.
	quantum = 10 * time.Millisecond
	// checkInterval is how often work yields its processor. While requests arrive, costly work sleeps for costlyPause
	// each time: work that never sleeps keeps its processor until the system preempts it.
	checkInterval, costlyPause = time.Millisecond, 100 * time.Microsecond
	// quiet is how long requests must stop arriving before costly work uses all processors.
	quiet = 10 * time.Millisecond
)

// Account says what to charge for work.
type Account struct {
	// Client is charged for processor time. The zero Client is the program itself, which always goes first.
	Client netip.Prefix
	// Backtracking is the budget of the request's filters for backtracking. If nil, each match has its own limit.
	Backtracking *pcre.Budget
}

type accountKey struct{}
type turnKey struct{}

// With returns a context whose work is charged to an account.
func With(ctx context.Context, a Account) context.Context {
	return context.WithValue(ctx, accountKey{}, a)
}

// AccountOf returns the account in a context, or the zero Account.
func AccountOf(ctx context.Context) Account {
	a, _ := ctx.Value(accountKey{}).(Account)
	return a
}

// Backtracking returns the budget of the context's account for backtracking expressions, or nil. A long match is
// costly work, and the turn's other work then uses one processor.
func Backtracking(ctx context.Context) *pcre.Budget {
	budget, turn := AccountOf(ctx).Backtracking, TurnOf(ctx)
	if budget == nil {
		return nil
	}
	if turn != nil {
		turn.backtracks.Store(true)
	}
	return budget.Pausing(func() error { return cmp.Or(turn.Costly(ctx), turn.Check(ctx)) })
}

// Turn is the right to use a processor. Work without a queue has a nil Turn. Its methods are safe for concurrent use.
//
// The contract:
//
// 1. Queue.Begin grants a turn, and the caller ends it with End, once, when the work is over. Work that Begin
// refuses has no turn. After End no method waits for a turn or gets one.
//
// 2. The work calls Check about every millisecond, between steps that need not be interrupted, and stops at its
// error: then no caller waits for the result any more. The functions Pace, Share, Each, Sort and Checked call it
// for the work.
//
// 3. The work does not wait with its turn. It waits for other work by Wait, or Lead; for a client by Pause and then
// Resume; and for a store by RunPaused, which keeps a place in a Line. Each of them may return with another kind of
// turn. Held says whether the work has its turn now.
//
// 4. Before a long step that cannot call Check, the work calls Costly. Work for which other work waits calls Share
// at its beginning, and the function that Share returns at its end.
//
// 5. No lock that other turns need is held during Check, Costly, Wait, Resume or RunPaused: these may wait for one
// of the other turns.
//
// 6. Errors are the context's cause; Check returns it in an EndedError, with the time that the work has used.
// Begin, Check and Costly also return rules.ErrUnavailable if too many works wait for a turn of the same kind.
//
// All exported methods but End work on a nil Turn, which is never delayed: they do nothing, or report the context's
// end.
type Turn struct {
	queue  *Queue
	client netip.Prefix
	start  time.Time
	due    atomic.Int64 // time after start at which Check next yields
	costly atomic.Bool
	// backtracks says that a match of the filter may take long and cannot be interrupted.
	backtracks atomic.Bool
	limit      time.Duration // total of ordinary time
	seen       atomic.Uint64 // number of requests that had arrived at the last check
	crowded    atomic.Bool   // a request arrived less than quiet before the last check
	shared     atomic.Int32  // number of running parts that other work waits for; changes under mu

	mu        sync.Mutex    // guards the rest; no goroutine holds it while it waits
	pool      *pool         // owner of the turn; nil while waiting and after End
	acquiring chan struct{} // closed when the goroutine that waits for the turn goes on; nil if none waits
	since     time.Time     // start of the time not charged yet
	used      time.Duration // time charged so far; it does not change while the turn waits, when the queue reads it
	sharing   time.Duration // heldLocked when Share began
	others    time.Duration // part of the time during which parts were shared
	last      time.Time     // when the turn last saw that a request had arrived
	ended     bool
	slot      *slot // in a Line; nil until the work enters it
}

// Begin waits for a turn and returns a context with it. Errors are the context's cause and rules.ErrUnavailable.
func (q *Queue) Begin(ctx context.Context) (context.Context, *Turn, error) {
	t := &Turn{queue: q, client: AccountOf(ctx).Client, pool: &q.ordinary, limit: ordinaryTurn}
	if err := q.acquire(ctx, t.pool, t, false); err != nil {
		return nil, nil, err
	}
	if q.usage(t.client) > heavyUse {
		t.limit = briefTurn
	}
	t.start = time.Now()
	t.since = t.start
	t.seen.Store(q.arrivals.Load())
	t.due.Store(int64(checkInterval))
	return context.WithValue(ctx, turnKey{}, t), t, nil
}

// TurnOf returns the turn in a context, or nil.
func TurnOf(ctx context.Context) *Turn {
	t, _ := ctx.Value(turnKey{}).(*Turn)
	return t
}

// End returns the turn for good.
func (t *Turn) End() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pauseLocked()
	t.leaveLocked()
	t.ended = true
}

// Share gives the work precedence over all other work of its kind while other work waits for it, until done is
// called. Otherwise the waiting work, which has used less time, would go before it for ever.
func (t *Turn) Share() (done func()) {
	if t == nil {
		return func() {}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.shared.Add(1) == 1 {
		t.sharing = t.heldLocked()
	}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.shared.Add(-1) == 0 {
			t.others += t.heldLocked() - t.sharing
		}
	}
}

// heldLocked returns how long the work has had the turn.
func (t *Turn) heldLocked() time.Duration {
	if t.pool == nil {
		return t.used
	}
	return t.used + time.Since(t.since)
}

// Pause returns the turn while the work waits for its client or other work, until Resume, and a place in a Line.
func (t *Turn) Pause() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pauseLocked()
	t.leaveLocked()
}

func (t *Turn) pauseLocked() {
	if t.pool == nil {
		return
	}
	took := time.Since(t.since)
	t.used += took
	t.queue.release(t.pool, t.client, took)
	t.pool = nil
}

// Held reports whether the work has the turn now. A nil Turn is never held.
func (t *Turn) Held() bool {
	if t == nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.pool != nil
}

// Resume waits for a turn after Pause, a costly one if the ordinary time is used up. It does nothing while the turn
// is held, and after End. The error is the context's cause.
func (t *Turn) Resume(ctx context.Context) error {
	if t == nil {
		return context.Cause(ctx)
	}
	return t.acquire(ctx, true)
}

// acquire waits for a turn of the kind that the work now needs, unless it has one. Of several goroutines of the work
// one waits in the queue, and the others for that one.
func (t *Turn) acquire(ctx context.Context, resumes bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.acquiring != nil {
		acquired := t.acquiring
		t.mu.Unlock()
		select {
		case <-acquired:
		case <-ctx.Done():
		}
		t.mu.Lock()
		if ctx.Err() != nil {
			return t.endedLocked(ctx)
		}
	}
	if t.pool != nil || t.ended {
		return nil
	}
	pool := &t.queue.ordinary
	if t.used >= t.limit || t.isCostly() {
		t.costly.Store(true)
		pool = &t.queue.costly
	}
	acquired := make(chan struct{})
	defer close(acquired)
	t.acquiring = acquired
	t.mu.Unlock()
	err := t.queue.acquire(ctx, pool, t, resumes)
	t.mu.Lock()
	t.acquiring = nil
	if err != nil {
		return err
	}
	t.pool, t.since = pool, time.Now()
	if t.ended { // End was called meanwhile
		t.pauseLocked()
	}
	return nil
}

// Wait waits without the turn until done is closed. The error is the context's cause.
func (t *Turn) Wait(ctx context.Context, done <-chan struct{}) error {
	t.Pause()
	select {
	case <-done:
		return t.Resume(ctx)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// EndedError is returned when the context of work ends while it has its turn.
type EndedError struct {
	Used  time.Duration // how long the work has had the turn, without the time shared with other work
	Cause error         // cause of the context's end
}

// Error says how long the work has run, and why it ended.
func (e *EndedError) Error() string { return fmt.Sprintf("after %v of work: %v", e.Used, e.Cause) }

// Unwrap returns the cause.
func (e *EndedError) Unwrap() error { return e.Cause }

// endedLocked returns the error of a context that has ended.
func (t *Turn) endedLocked(ctx context.Context) error {
	used := t.heldLocked() - t.others
	if t.shared.Load() > 0 {
		used = t.sharing - t.others
	}
	return &EndedError{used, context.Cause(ctx)}
}

// Check must be called about every millisecond of work. It waits while other work goes first, and fails when no
// caller waits for the work any more: with the context's cause, as an EndedError unless there is no turn.
func (t *Turn) Check(ctx context.Context) error {
	switch {
	case ctx.Err() == nil:
	case t == nil:
		return context.Cause(ctx)
	default:
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.endedLocked(ctx)
	}
	if t == nil || time.Since(t.start) < time.Duration(t.due.Load()) {
		return nil
	}
	return t.yield(ctx, false)
}

// Costly makes the turn costly, before work that will take long.
func (t *Turn) Costly(ctx context.Context) error {
	if t == nil || t.isCostly() {
		return nil
	}
	return t.yield(ctx, true)
}

// yield lets other work run. It makes an ordinary turn costly when its time is over, or at once if now is true. It
// passes on a costly turn if other work waits for one.
func (t *Turn) yield(ctx context.Context, now bool) error {
	switch stats := &t.queue.stats; {
	case now: // no slice has ended
	case t.isCostly():
		stats.costly.Add(1)
	default:
		stats.ordinary.Add(1)
	}
	if t.isCostly() && t.limited() {
		t.queue.stats.pauses.Add(1)
		time.Sleep(costlyPause)
	} else {
		runtime.Gosched()
	}
	if !t.passOn(now) {
		return nil
	}
	return t.acquire(ctx, false)
}

// passOn returns the turn if its time is over, or the work becomes costly, and reports whether another is needed.
func (t *Turn) passOn(now bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lookLocked()
	q, took := t.queue, time.Since(t.since)
	t.due.Store(int64(time.Since(t.start) + checkInterval))
	switch ordinary := t.pool == &q.ordinary; {
	case t.pool == nil:
		return t.acquiring != nil
	case ordinary && t.used+took < t.limit && !now || !ordinary && (took < quantum || !q.hasWaiters(t.pool)):
		return false
	}
	t.costly.Store(true)
	t.pauseLocked()
	return true
}

// lookLocked checks whether other requests arrive, or other work waits to begin.
func (t *Turn) lookLocked() {
	if n := t.queue.arrivals.Load(); n != t.seen.Load() || t.queue.hasWaiters(&t.queue.ordinary) {
		t.seen.Store(n)
		t.last = time.Now()
	}
	t.crowded.Store(time.Since(t.last) < quiet)
}

func (t *Turn) isCostly() bool { return t != nil && t.costly.Load() }

// limited reports whether the work may use only one processor, because other requests arrive.
func (t *Turn) limited() bool {
	return t != nil && (t.crowded.Load() || t.queue.arrivals.Load() != t.seen.Load())
}

// Workers returns how many goroutines may do work that cannot call Check: one for each processor, or only one if the
// turn is costly or likely to become so, because its filter backtracks or its client has used much time lately.
func Workers(ctx context.Context) int {
	if t := TurnOf(ctx); t != nil && (t.isCostly() || t.backtracks.Load() || t.limit == briefTurn) {
		return 1
	}
	return runtime.GOMAXPROCS(0)
}
