// Package flight lets concurrent callers share one run of the same work.
//
//	Do      runs the work in a goroutine of its own, for all its callers. A caller
//	        that leaves does not end the run.
//	Lead    the first caller runs the work itself, in its own turn and time. If it
//	        fails, perhaps because its client has left, another caller leads.
//	Join    is what both are made of. Its callers decide themselves what another
//	        caller's failure means for them.
//
// Callers look for the value before they call, and the work looks for it again as the first thing: another run may
// have ended between a caller's look-up and the beginning of its run. A panic of the work is an error for all its
// callers.
package flight

import (
	"context"
	"errors"
	"sync"
	"time"

	"vitrine/rules/fault"
)

// Group shares runs by key: while a run of a key lasts, no other begins. The zero Group is ready, and all its methods
// are safe for concurrent use.
type Group[K comparable, V any] struct {
	// Cancel says that Do cancels a run when its last caller leaves. The next caller then begins another run.
	// Otherwise the run goes on, and the next caller joins it.
	Cancel bool
	// Grace is how long a caller of Do whose deadline has passed waits for the run. A run that ends by the same
	// deadline can say more about it than the caller's context. If 0, the caller does not wait.
	Grace time.Duration

	mu   sync.Mutex
	runs map[K]*Run[V] // guarded by mu
}

// Run is one run of work, which ends once.
type Run[V any] struct {
	callers int                // of Do that wait for the run; guarded by Group.mu
	cancel  context.CancelFunc // of the work's context; nil unless Do began the run
	done    chan struct{}      // closed when value and err are set
	value   V
	err     error
}

// NewRun returns a run that belongs to no Group, for callers with a table of their own.
func NewRun[V any]() *Run[V] { return &Run[V]{done: make(chan struct{})} }

// Done returns a channel that is closed when the run ends.
func (r *Run[V]) Done() <-chan struct{} { return r.done }

// Result returns what the run ended with. It must not be called before Done is closed.
func (r *Run[V]) Result() (V, error) { return r.value, r.err }

// End ends a run of NewRun.
func (r *Run[V]) End(value V, err error) {
	r.value, r.err = value, err
	close(r.done)
}

// Role is the part of a caller in the run that Do has waited for.
type Role int

// The roles of callers.
const (
	Began  Role = iota // the caller began the run
	Joined             // another caller began the run
	Left               // the caller's context ended before the run
)

// Expired marks the error of work that has run out of the time of the caller which began it. Callers that joined the
// run, and have more time, run the work again.
func Expired(err error) error { return expiredError{err} }

type expiredError struct{ error }

func (e expiredError) Unwrap() error { return e.error }

// errPanicked is the error of a run whose work did not return.
var errPanicked = errors.New("the caller that ran this has panicked")

// Do returns what work returns for a key. Work gets a context with the values of the context of the caller that began
// the run, but without its end. When ctx ends, Do returns its cause, and its role is Left.
func (g *Group[K, V]) Do(
	ctx context.Context, key K, work func(context.Context) (V, error),
) (value V, role Role, err error) {
	for {
		value, role, err = g.share(ctx, key, work)
		if _, expired := errors.AsType[expiredError](err); !expired || role != Joined || ctx.Err() != nil {
			return value, role, err
		}
	}
}

// share is Do without another attempt.
func (g *Group[K, V]) share(
	ctx context.Context, key K, work func(context.Context) (V, error),
) (value V, role Role, err error) {
	role = Joined
	g.mu.Lock()
	run, begins := g.joinLocked(key)
	if begins {
		role = Began
		var running context.Context
		running, run.cancel = context.WithCancel(context.WithoutCancel(ctx))
		go g.run(running, key, run, work)
	}
	run.callers++
	g.mu.Unlock()
	select {
	case <-run.done:
		return run.value, role, run.err
	case <-ctx.Done():
	}
	if g.Grace > 0 && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		select {
		case <-run.done:
			return run.value, role, run.err
		case <-time.After(g.Grace):
		}
	}
	g.leave(key, run)
	return value, Left, context.Cause(ctx)
}

// run is the goroutine of a run that Do began.
func (g *Group[K, V]) run(ctx context.Context, key K, run *Run[V], work func(context.Context) (V, error)) {
	var value V
	err := errPanicked // if work ends the goroutine
	defer func() { g.End(key, run, value, err) }()
	defer run.cancel()
	defer fault.Panics()()
	err = fault.Guard(func() (err error) {
		value, err = work(ctx)
		return err
	})
}

// leave ends a caller's wait for a run.
func (g *Group[K, V]) leave(key K, run *Run[V]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if run.callers--; run.callers == 0 && g.Cancel {
		run.cancel()
		g.removeLocked(key, run)
	}
}

// Lead returns what work returns for a key. One caller runs work and returns with it, also from a panic. The others
// call wait, which returns when the channel is closed or with an error, such as that their own context has ended. If
// the run failed, one of them runs its own work.
func (g *Group[K, V]) Lead(key K, wait func(done <-chan struct{}) error,
	work func() (V, error)) (value V, err error) {
	for {
		run, begins := g.Join(key)
		if begins {
			err = errPanicked
			defer func() { g.End(key, run, value, err) }()
			return work()
		}
		if err := wait(run.done); err != nil {
			return value, err
		}
		if run.err == nil {
			return run.value, nil
		}
	}
}

// Join returns the run of a key. If begins is true, there was none: the caller does the work and calls End, also
// after a panic.
func (g *Group[K, V]) Join(key K) (run *Run[V], begins bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.joinLocked(key)
}

func (g *Group[K, V]) joinLocked(key K) (run *Run[V], begins bool) {
	if run = g.runs[key]; run != nil {
		return run, false
	}
	if g.runs == nil {
		g.runs = map[K]*Run[V]{}
	}
	run = NewRun[V]()
	g.runs[key] = run
	return run, true
}

// Running returns the run of a key, or nil.
func (g *Group[K, V]) Running(key K) *Run[V] {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.runs[key]
}

// End ends a run that Join began. Callers that come later begin another.
func (g *Group[K, V]) End(key K, run *Run[V], value V, err error) {
	g.mu.Lock()
	g.removeLocked(key, run)
	g.mu.Unlock()
	run.End(value, err)
}

func (g *Group[K, V]) removeLocked(key K, run *Run[V]) {
	if g.runs[key] == run {
		delete(g.runs, key)
	}
}
