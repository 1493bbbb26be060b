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
	// ordinarily is how long an ordinary turn takes at most, briefly how long if its
	// client has used more than much lately.
	ordinarily, briefly = 20 * time.Millisecond, 2 * time.Millisecond
	much                = 100 * time.Millisecond
	// quantum is after how long a costly turn goes to other work that waits.
	quantum = 10 * time.Millisecond
	// pace is how often work gives way to what else there is to do. Costly work rests for a
	// moment: work that never waits has a processor to itself until the system takes it away.
	pace, rest = time.Millisecond, 100 * time.Microsecond
)

// Caller is who asks for work.
type Caller struct {
	// Client is charged with the time; the zero one is the program itself, which
	// always goes first.
	Client netip.Prefix
	// Backtracking is what the filters of the request have for backtracking
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

// Bound binds a filter to what the caller of a context has for it, and to the turn.
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

// Turn is the right to work. A nil one is that of work without a queue. Its methods
// are safe for concurrent use.
type Turn struct {
	queue  *Queue
	client netip.Prefix
	begun  time.Time
	due    atomic.Int64 // how long after begun Check has to do something
	costly atomic.Bool
	// backtracks: a match of its filter may take long, and cannot be interrupted.
	backtracks atomic.Bool
	most       time.Duration // of the ordinary turn

	mu    sync.Mutex
	desk  *desk         // guarded by mu: where the turn is from; nil after its end
	since time.Time     // guarded by mu: from when on it is not charged yet
	used  time.Duration // guarded by mu, while it waits by the queue's: charged so far
}

// Begin waits for a turn for the work of a context. The context returned carries it;
// End gives it back. Errors are the context's cause and rules.ErrUnavailable.
func (q *Queue) Begin(ctx context.Context) (context.Context, *Turn, error) {
	t := &Turn{queue: q, client: CallerOf(ctx).Client, desk: &q.ordinary, most: ordinarily}
	if err := q.take(ctx, t.desk, t); err != nil {
		return nil, nil, err
	}
	if q.used(t.client) > much {
		t.most = briefly
	}
	t.begun = time.Now()
	t.since = t.begun
	t.due.Store(int64(pace))
	return context.WithValue(ctx, turnKey{}, t), t, nil
}

// TurnOf returns the turn that a context carries; nil if it carries none.
func TurnOf(ctx context.Context) *Turn {
	t, _ := ctx.Value(turnKey{}).(*Turn)
	return t
}

// End gives the turn back.
func (t *Turn) End() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.desk != nil {
		t.queue.give(t.desk, t.client, time.Since(t.since))
		t.desk = nil
	}
}

// Check is to be called about every millisecond of work. It waits where other work goes
// first, and fails with the context's cause when nobody waits for the work any more.
func (t *Turn) Check(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if t == nil || time.Since(t.begun) < time.Duration(t.due.Load()) {
		return nil
	}
	return t.goOn(ctx, false)
}

// Costly makes the turn a costly one before work that is known to take long.
func (t *Turn) Costly(ctx context.Context) error {
	if t == nil || t.costly.Load() {
		return nil
	}
	return t.goOn(ctx, true)
}

// goOn gives way for a moment. It makes an ordinary turn costly when that is due, or
// now, and lets work go first that waits for a costly one.
func (t *Turn) goOn(ctx context.Context, now bool) error {
	if t.costly.Load() {
		time.Sleep(rest)
	} else {
		runtime.Gosched()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if ctx.Err() != nil { // while another goroutine of the work waited for its turn
		return context.Cause(ctx)
	}
	q, took := t.queue, time.Since(t.since)
	t.due.Store(int64(time.Since(t.begun) + pace))
	switch ordinary := t.desk == &q.ordinary; {
	case t.desk == nil || ordinary && took < t.most && !now || !ordinary && took < quantum:
		return nil
	case !ordinary && !q.wanted(t.desk):
		return nil
	}
	t.used += took
	q.give(t.desk, t.client, took)
	t.costly.Store(true)
	t.desk = nil
	if err := q.take(ctx, &q.costly, t); err != nil {
		return err
	}
	t.desk, t.since = &q.costly, time.Now()
	return nil
}

// part is how many pieces of work are done between two looks at the turn.
const part = 16

// Share has work done for 0, 1, … n-1 on several processors, in no particular order, and
// waits for it. Work that becomes costly goes on with one processor after the pieces under
// way. It ends at the first error, which is work's or that of Turn.Check.
func Share(ctx context.Context, n int, work func(i int) error) error {
	const least = 512 // fewer pieces of work are not worth a goroutine
	s := share{ctx: ctx, turn: TurnOf(ctx), n: n, work: work}
	workers := min(Workers(ctx), n/least+1)
	errs, rest := make([]error, workers), make([]stretch, workers)
	var others parallel.Group
	for w := 1; w < workers; w++ {
		others.Go(func() { rest[w], errs[w] = s.help() })
	}
	errs[0] = s.finish()
	others.Wait()
	for _, left := range rest {
		if errs[0] == nil {
			errs[0] = s.do(left)
		}
	}
	return cmp.Or(errs...)
}

// share is work that several goroutines do.
type share struct {
	ctx  context.Context
	turn *Turn
	n    int
	work func(i int) error
	next atomic.Int64
}

// stretch is the pieces of work from one number to before another.
type stretch struct{ from, to int }

// take returns the next part of the work, an empty one at its end.
func (s *share) take() stretch {
	to := min(int(s.next.Add(part)), s.n+part)
	return stretch{to - part, min(to, s.n)}
}

// finish does parts until there are no more.
func (s *share) finish() error {
	for p := s.take(); p.from < p.to; p = s.take() {
		if err := s.do(p); err != nil {
			return err
		}
	}
	return nil
}

// help does the same until the work becomes costly, and returns what it has left of a part.
func (s *share) help() (left stretch, err error) {
	for p := s.take(); p.from < p.to; p = s.take() {
		for from := p.from; from < p.to; from++ {
			if s.turn != nil && s.turn.costly.Load() {
				return stretch{from, p.to}, nil
			}
			if err := s.work(from); err != nil {
				return stretch{}, s.stop(err)
			}
		}
		if err := s.turn.Check(s.ctx); err != nil {
			return stretch{}, s.stop(err)
		}
	}
	return stretch{}, nil
}

// do does a part of the work.
func (s *share) do(p stretch) error {
	for i := p.from; i < p.to; i++ {
		if err := s.work(i); err != nil {
			return s.stop(err)
		}
	}
	if err := s.turn.Check(s.ctx); err != nil {
		return s.stop(err)
	}
	return nil
}

// stop keeps further parts from being taken.
func (s *share) stop(err error) error {
	s.next.Store(int64(s.n))
	return err
}

// Workers returns how many goroutines the work of a context may use: one for each
// processor, or one if it is costly or likely to be, since it backtracks or its client has
// used much lately.
func Workers(ctx context.Context) int {
	if t := TurnOf(ctx); t != nil && (t.costly.Load() || t.backtracks.Load() || t.most == briefly) {
		return 1
	}
	return runtime.GOMAXPROCS(0)
}
