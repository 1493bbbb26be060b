package circuit_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/cache/origin"
	"vitrine/cache/origin/circuit"
	"vitrine/rules"
	"vitrine/rules/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// fickle is a store that answers, is away, or hangs.
type fickle struct {
	origin.Store // the test calls no other methods
	gate         origin.Gate

	mu     sync.Mutex
	away   bool
	hang   bool // while away, pings wait
	silent bool // operations hang, but the store answers pings
	pings  atomic.Int64
	calls  atomic.Int64
}

func (f *fickle) Name() string { return "fickle://store" }

func (f *fickle) Guard(g origin.Gate) { f.gate = g }

func (f *fickle) set(away, silent bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.away, f.silent = away, silent
}

func (f *fickle) Ping(ctx context.Context) error {
	f.pings.Add(1)
	f.mu.Lock()
	away, hang := f.away, f.hang
	f.mu.Unlock()
	if away && hang {
		<-ctx.Done()
	}
	if away {
		return errors.Join(rules.ErrUnavailable, errors.New("no route"))
	}
	return nil
}

func (f *fickle) Meta(ctx context.Context, _ string) (m origin.Meta, err error) {
	err = f.gate(ctx, func(ctx context.Context) error {
		m, err = f.meta(ctx)
		return err
	})
	return m, err
}

func (f *fickle) meta(ctx context.Context) (origin.Meta, error) {
	f.calls.Add(1)
	f.mu.Lock()
	away, silent := f.away, f.silent
	f.mu.Unlock()
	if silent {
		<-ctx.Done()
		return origin.Meta{}, ctx.Err()
	}
	if away {
		return origin.Meta{}, rules.ErrUnavailable
	}
	return origin.Meta{Generation: 7}, nil
}

// guarded is a circuit before a fickle store, and records when the circuit opens and closes.
type guarded struct {
	*circuit.Store
	t       *testing.T
	inner   *fickle
	changes chan bool
}

func guard(t *testing.T) *guarded {
	g := &guarded{t: t, inner: &fickle{}, changes: make(chan bool, 100)}
	g.Store = circuit.New(g.inner, slog.New(slog.DiscardHandler), func(closed bool) { g.changes <- closed })
	return g
}

// run runs the circuit's checks of the store until the test ends.
func (g *guarded) run() {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- g.Run(ctx) }()
	g.t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			g.t.Error(err)
		}
	})
}

// TestOpensAndCloses: while the circuit is open only pings reach the store.
func TestOpensAndCloses(t *testing.T) { synctest.Test(t, testOpensAndCloses) }

func testOpensAndCloses(t *testing.T) {
	g := guard(t)
	g.run()
	if _, err := g.Meta(t.Context(), "things"); err != nil {
		t.Fatal(err)
	}
	g.inner.set(true, false)
	if <-g.changes {
		t.Fatal("reported as closed before it opened")
	}
	before := g.inner.calls.Load()
	for range 1000 {
		if _, err := g.Meta(t.Context(), "things"); !errors.Is(err, rules.ErrUnavailable) {
			t.Fatalf("while open: %v", err)
		}
	}
	if calls := g.inner.calls.Load() - before; calls != 0 {
		t.Errorf("%d operations reached a store that is away", calls)
	}
	st := g.State()
	if !st.Open || st.Err == nil || st.Opened != 1 || st.Refused < 1000 || st.Contact.IsZero() ||
		st.Since.Before(st.Contact) {
		t.Errorf("state while open: %+v", st)
	}
	g.inner.set(false, false)
	if !<-g.changes {
		t.Fatal("opened again")
	}
	if m, err := g.Meta(t.Context(), "things"); err != nil || m.Generation != 7 {
		t.Errorf("after the store came back: %+v, %v", m, err)
	}
	if st := g.State(); st.Open || st.Err != nil || st.Opened != 1 {
		t.Errorf("state after: %+v", st)
	}
}

// TestGivesUpWhatWaits: when the store goes away, the circuit ends the operations that hang.
func TestGivesUpWhatWaits(t *testing.T) { synctest.Test(t, testGivesUpWhatWaits) }

func testGivesUpWhatWaits(t *testing.T) {
	g := guard(t)
	g.inner.set(false, true)
	g.run()
	ended := make(chan error)
	for range 10 {
		go func() {
			_, err := g.Meta(context.Background(), "things")
			ended <- err
		}()
	}
	for g.inner.calls.Load() < 10 {
		<-time.After(time.Millisecond)
	}
	g.inner.set(true, true)
	for range 10 {
		if err := <-ended; !errors.Is(err, rules.ErrUnavailable) {
			t.Errorf("the hanging operation ended with %v", err)
		}
	}
}

// TestSlowIsNotAway: an operation that hangs while the store answers pings does not open the
// circuit. Its caller decides how long it waits.
func TestSlowIsNotAway(t *testing.T) { synctest.Test(t, testSlowIsNotAway) }

func testSlowIsNotAway(t *testing.T) {
	g := guard(t)
	g.inner.set(false, true)
	g.run()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := g.Meta(ctx, "things")
		ended <- err
	}()
	for pings := g.inner.pings.Load(); g.inner.pings.Load() < pings+20; {
		<-time.After(time.Millisecond)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("a slow operation ended with %v", err)
	}
	if st := g.State(); st.Opened != 0 {
		t.Errorf("a slow operation opened the circuit: %+v", st)
	}
}

// TestAwayFromTheStart: the circuit opens at the first failure of a store that has never answered.
func TestAwayFromTheStart(t *testing.T) { synctest.Test(t, testAwayFromTheStart) }

func testAwayFromTheStart(t *testing.T) {
	g := guard(t)
	g.inner.set(true, false)
	g.run()
	if <-g.changes {
		t.Fatal("closed")
	}
	if st := g.State(); st.Pings != 1 && !st.Open {
		t.Errorf("state: %+v", st)
	}
	g.inner.set(false, false)
	if !<-g.changes {
		t.Fatal("did not close")
	}
}

// TestHealsSoon: after a long outage an operation passes within three seconds, with or without
// requests in between. A client that was refused after the store came back, and retries when the
// refusal says, gets an answer. The test drives the clock.
func TestHealsSoon(t *testing.T) {
	for _, hang := range []bool{false, true} {
		for range 50 { // pauses are random
			synctest.Test(t, func(t *testing.T) {
				inner := &fickle{hang: hang}
				s := circuit.New(inner, slog.New(slog.DiscardHandler), func(bool) {})
				ctx, stop := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() { done <- s.Run(ctx) }()
				defer func() { stop(); <-done }()
				time.Sleep(10 * time.Second)
				inner.set(true, false)
				time.Sleep(20*time.Second + rand.N(10*time.Second)) // without any request
				inner.set(false, false)
				time.Sleep(3*time.Second + 10*time.Millisecond)
				if s.State().Open {
					t.Fatal("without requests the circuit is open for more than 3 s")
				}

				inner.set(true, false)
				time.Sleep(20*time.Second + rand.N(10*time.Second))
				pings := s.State().Pings
				for range 1000 { // requests for 10 s
					_, _ = s.Meta(t.Context(), "things")
					time.Sleep(10 * time.Millisecond)
				}
				if n := s.State().Pings - pings; n > 40 {
					t.Errorf("%d pings in 10 s", n)
				}
				inner.set(false, false)
				_, err := s.Meta(t.Context(), "things")
				var known interface{ RetryAfter() time.Duration }
				if !errors.Is(err, rules.ErrUnavailable) || !errors.As(err, &known) ||
					known.RetryAfter() > 3*time.Second {
					t.Fatalf("refused with %v", err)
				}
				time.Sleep(known.RetryAfter() + time.Millisecond)
				if _, err := s.Meta(t.Context(), "things"); err != nil {
					t.Errorf("after %v: %v", known.RetryAfter(), err)
				}
			})
		}
	}
}
