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

	"go.uber.org/goleak"

	"vitrine/cache/origin"
	"vitrine/cache/origin/circuit"
	"vitrine/rules"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fickle is a store that is there, away, or silent.
type fickle struct {
	origin.Store // nothing else is called
	gate         origin.Gate

	mu     sync.Mutex
	away   bool
	hang   bool // while away, pings wait
	silent bool // operations wait, but pings are answered
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

// guarded is a circuit before a fickle store, with its changes.
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

// run looks after the store until the test ends.
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
		t.Fatal("closed first")
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
	if !st.Open || st.Err == nil || st.Opened != 1 || st.Refused < 1000 || st.Contact.IsZero() || st.Since.Before(st.Contact) {
		t.Errorf("state while open: %+v", st)
	}
	g.inner.set(false, false)
	if !<-g.changes {
		t.Fatal("opened again")
	}
	if m, err := g.Meta(t.Context(), "things"); err != nil || m.Generation != 7 {
		t.Errorf("after it came back: %+v, %v", m, err)
	}
	if st := g.State(); st.Open || st.Err != nil || st.Opened != 1 {
		t.Errorf("state after: %+v", st)
	}
}

// TestGivesUpWhatWaits: operations that hang when the store goes away end then.
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
			t.Errorf("given up with %v", err)
		}
	}
}

// TestSlowIsNotAway: an operation that hangs while pings are answered opens nothing, and
// is left to its caller's patience.
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

// TestAwayFromTheStart: a store that never answered needs no second look.
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

// TestHealsSoon: after a long outage an operation passes within three seconds, whether or
// not requests ask meanwhile; a client that was refused after the store came back, and
// tries again when the refusal says, is answered. The clock is the test's own.
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
				time.Sleep(20*time.Second + rand.N(10*time.Second)) // no request at all
				inner.set(false, false)
				time.Sleep(3*time.Second + 10*time.Millisecond)
				if s.State().Open {
					t.Fatal("without requests it is open for more than 3 s")
				}

				inner.set(true, false)
				time.Sleep(20*time.Second + rand.N(10*time.Second))
				pings := s.State().Pings
				for range 1000 { // requests of 10 s
					_, _ = s.Meta(t.Context(), "things")
					time.Sleep(10 * time.Millisecond)
				}
				if n := s.State().Pings - pings; n > 40 {
					t.Errorf("%d pings in 10 s", n)
				}
				inner.set(false, false)
				_, err := s.Meta(t.Context(), "things")
				var known interface{ RetryAfter() time.Duration }
				if !errors.Is(err, rules.ErrUnavailable) || !errors.As(err, &known) || known.RetryAfter() > 3*time.Second {
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
