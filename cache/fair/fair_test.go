package fair_test

import (
	"context"
	"errors"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/cache/fair"
	"vitrine/rules"
)

// from returns a context for work of a client.
func from(ctx context.Context, client string) context.Context {
	return fair.With(ctx, fair.Account{Client: netip.MustParsePrefix(client)})
}

// begin waits for a turn.
func begin(t *testing.T, q *fair.Queue, ctx context.Context) (context.Context, *fair.Turn) {
	t.Helper()
	ctx, turn, err := q.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return ctx, turn
}

// TestLeastFirst: the client that has used least goes first, even if others came before it.
func TestLeastFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := fair.New(1, 100)
		_, used := begin(t, q, from(t.Context(), "192.0.2.1/32"))
		time.Sleep(time.Second)
		used.End()
		_, running := begin(t, q, t.Context())
		var mu sync.Mutex
		var order []string
		var work sync.WaitGroup
		for _, client := range []string{"192.0.2.1/32", "192.0.2.1/32", "192.0.2.2/32", "192.0.2.1/32"} {
			work.Go(func() {
				_, turn := begin(t, q, from(t.Context(), client))
				mu.Lock()
				order = append(order, client)
				mu.Unlock()
				turn.End()
			})
			synctest.Wait()
		}
		running.End()
		work.Wait()
		if order[0] != "192.0.2.2/32" {
			t.Errorf("order %v, want the client that has used nothing first", order)
		}
	})
}

// TestCostly: work that takes long returns its ordinary turn and alternates with other long work.
func TestCostly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := fair.New(1, 100)
		ctx, long := begin(t, q, t.Context())
		if err := long.Check(ctx); err != nil || fair.Workers(ctx) != runtime.GOMAXPROCS(0) {
			t.Fatalf("Check = %v with %d workers at first", err, fair.Workers(ctx))
		}
		time.Sleep(time.Second)
		if err := long.Check(ctx); err != nil || fair.Workers(ctx) != 1 {
			t.Fatalf("Check = %v with %d workers after a second", err, fair.Workers(ctx))
		}
		_, quick := begin(t, q, t.Context()) // the turn is free again
		quick.End()
	})
}

// TestQuantum: the queue gives a costly turn to the work that has used less.
func TestQuantum(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := fair.New(100, 100)
		var mu sync.Mutex
		var ended []int
		var works sync.WaitGroup
		work := func(steps int) {
			works.Go(func() {
				ctx, turn := begin(t, q, t.Context())
				defer turn.End()
				if err := turn.Costly(ctx); err != nil {
					t.Error(err)
				}
				for range steps {
					time.Sleep(time.Millisecond)
					if err := turn.Check(ctx); err != nil {
						t.Error(err)
					}
				}
				mu.Lock()
				ended = append(ended, steps)
				mu.Unlock()
			})
			synctest.Wait()
		}
		for range max(runtime.GOMAXPROCS(0)-1, 1) {
			work(1000)
		}
		work(10)
		works.Wait()
		if ended[0] != 10 {
			t.Errorf("work ended in the order %v, want the short one first", ended)
		}
	})
}

// TestShared: work that others wait for goes first, however much it has used.
func TestShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := fair.New(100, 100)
		var holders []*fair.Turn
		for range max(runtime.GOMAXPROCS(0)-1, 1) {
			ctx, turn := begin(t, q, t.Context())
			if err := turn.Costly(ctx); err != nil {
				t.Fatal(err)
			}
			holders = append(holders, turn)
		}
		var mu sync.Mutex
		var order []string
		var works sync.WaitGroup
		wait := func(name string, shared bool) {
			works.Go(func() {
				ctx, turn := begin(t, q, t.Context())
				defer turn.End()
				if shared {
					time.Sleep(time.Second)
					defer turn.Share()()
				}
				if err := turn.Costly(ctx); err != nil {
					t.Error(err)
				}
				mu.Lock()
				order = append(order, name)
				mu.Unlock()
			})
			synctest.Wait()
		}
		wait("shared", true)
		for range 5 {
			wait("own", false)
		}
		time.Sleep(2 * time.Second)
		for _, turn := range holders {
			turn.End()
			synctest.Wait() // so that the works get the turn one after the other
		}
		works.Wait()
		if order[0] != "shared" {
			t.Errorf("order %v, want the shared work first", order)
		}
	})
}

// TestLeaving: work without waiting callers ends, even while it waits for a turn, and frees its
// turn.
func TestLeaving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := fair.New(1, 1)
		gone := errors.New("gone")
		ctx, leave := context.WithCancelCause(t.Context())
		_, first := begin(t, q, t.Context())
		waiting := make(chan error)
		go func() {
			_, _, err := q.Begin(ctx)
			waiting <- err
		}()
		synctest.Wait()
		if _, _, err := q.Begin(t.Context()); !errors.Is(err, rules.ErrUnavailable) {
			t.Errorf("Begin = %v where too many wait", err)
		}
		leave(gone)
		if err := <-waiting; !errors.Is(err, gone) {
			t.Errorf("Begin = %v after the client left", err)
		}
		if err := first.Check(ctx); !errors.Is(err, gone) {
			t.Errorf("Check = %v after the client left", err)
		}
		first.End()
		_, next := begin(t, q, t.Context())
		next.End()
	})
}

// TestSlowPieces: work that becomes costly continues on one processor at once, even if each piece
// takes long, and every piece runs once. Work of a client that has used much starts on one
// processor.
func TestSlowPieces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 1100
		q := fair.New(1, 100)
		ctx, turn := begin(t, q, t.Context())
		var running, beside atomic.Int32 // pieces, and those that started beside another after the work became costly
		var done [n]atomic.Int32
		err := fair.Share(ctx, n, func(i int) error {
			if running.Add(1) > 1 && fair.Workers(ctx) == 1 {
				beside.Add(1)
			}
			defer running.Add(-1)
			q.NoteRequest() // other requests arrive meanwhile
			time.Sleep(30 * time.Millisecond)
			done[i].Add(1)
			return nil
		})
		if err != nil || beside.Load() > 1 {
			t.Errorf("Share = %v, %d pieces beside others", err, beside.Load())
		}
		for i := range done {
			if done[i].Load() != 1 {
				t.Fatalf("piece %d ran %d times", i, done[i].Load())
			}
		}
		turn.End()
		_, used := begin(t, q, from(t.Context(), "192.0.2.1/32"))
		time.Sleep(time.Second)
		used.End()
		ctx, again := begin(t, q, from(t.Context(), "192.0.2.1/32"))
		if got := fair.Workers(ctx); got != 1 {
			t.Errorf("%d workers for a client that has used much", got)
		}
		again.End()
	})
}

// TestShare: every piece of work runs once; an error or a panic ends the work.
func TestShare(t *testing.T) {
	for _, n := range []int{0, 1, 17, 5000} {
		done := make([]int, n)
		if err := fair.Share(t.Context(), n, func(i int) error { done[i]++; return nil }); err != nil {
			t.Fatal(err)
		}
		for i, times := range done {
			if times != 1 {
				t.Fatalf("of %d pieces, piece %d ran %d times", n, i, times)
			}
		}
	}
	bad := errors.New("bad")
	if err := fair.Share(t.Context(), 5000, func(int) error { return bad }); !errors.Is(err, bad) {
		t.Errorf("Share = %v, want work's error", err)
	}
}

// TestMany: the queue forgets clients that used nothing lately, and of too many clients the one that
// sent no request for longest.
func TestMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := fair.New(1, 100)
		use := func(client netip.Addr, d time.Duration) int {
			ctx, turn := begin(t, q, fair.With(t.Context(), fair.Account{Client: netip.PrefixFrom(client, 32)}))
			defer turn.End()
			time.Sleep(d)
			return fair.Workers(ctx)
		}
		heavy, client := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("10.0.0.0")
		use(heavy, time.Minute)
		if got := use(heavy, 0); got != 1 {
			t.Errorf("%d workers for a client that has used much", got)
		}
		for range 1 << 14 {
			client = client.Next()
			use(client, time.Nanosecond)
		}
		if got := use(heavy, 0); got != runtime.GOMAXPROCS(0) {
			t.Errorf("%d workers for a client that the queue forgot", got)
		}
		time.Sleep(time.Hour)
		if got := use(client, 0); got != runtime.GOMAXPROCS(0) {
			t.Errorf("%d workers for a client after an hour", got)
		}
	})
}

// TestCallers: a context says which client pays for the work.
func TestCallers(t *testing.T) {
	if got := fair.AccountOf(t.Context()); got.Client.IsValid() || got.Backtracking != nil {
		t.Errorf("account of a context without one: %+v", got)
	}
	if got := fair.AccountOf(from(t.Context(), "192.0.2.1/32")).Client.String(); got != "192.0.2.1/32" {
		t.Errorf("caller %s", got)
	}
	if fair.TurnOf(t.Context()) != nil || fair.Workers(t.Context()) != runtime.GOMAXPROCS(0) {
		t.Error("work without a queue is limited")
	}
	gone, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("gone")
	cancel(cause)
	if err := fair.TurnOf(gone).Check(gone); !errors.Is(err, cause) {
		t.Errorf("Check without a turn = %v", err)
	}
	if err := fair.Share(gone, 1, func(int) error { return nil }); !errors.Is(err, cause) {
		t.Errorf("Share without a caller = %v", err)
	}
}

// TestPause: work that waits for its client gives its turn to others. It needs a costly turn once
// all its stretches together have used up the ordinary time.
func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := fair.New(1, 0)
		ctx, stream := begin(t, q, t.Context())
		for range 30 {
			time.Sleep(time.Millisecond)
			stream.Pause()
			if stream.Held() {
				t.Fatal("the turn is held after Pause")
			}
			_, other := begin(t, q, t.Context()) // fails if another request would wait
			other.End()
			if err := stream.Resume(ctx); err != nil || !stream.Held() {
				t.Fatalf("Resume = %v", err)
			}
		}
		if got := fair.Workers(ctx); got != 1 {
			t.Errorf("%d workers after 30 ms", got)
		}
		_, ordinary := begin(t, q, t.Context())
		ordinary.End()
		stream.End()
		if err := stream.Resume(ctx); err != nil || stream.Held() {
			t.Errorf("Resume after End = %v, held %v", err, stream.Held())
		}
		_, again := begin(t, q, t.Context())
		again.End()
	})
}

// TestEnded: the error of work that ends with its context says how long it worked, without the time
// in which it worked for others, too.
func TestEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := fair.New(1, 1)
		limited, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		ctx, turn := begin(t, q, limited)
		check := func(want time.Duration) {
			t.Helper()
			var ended *fair.EndedError
			if err := turn.Check(ctx); !errors.As(err, &ended) || ended.Used != want ||
				!errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Check = %v, want %v of work", err, want)
			}
		}
		time.Sleep(2 * time.Second)
		check(2 * time.Second)
		outer, inner := turn.Share(), turn.Share()
		time.Sleep(time.Second)
		inner()
		check(2 * time.Second)
		time.Sleep(time.Second)
		outer()
		time.Sleep(time.Second)
		check(3 * time.Second)
		turn.End()
	})
}

// TestWaitingTurn: while one goroutine of the work waits for a turn, the others wait with it or
// leave, and the work may end.
func TestWaitingTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := fair.New(100, 100)
		var holders []*fair.Turn
		for range max(runtime.GOMAXPROCS(0)-1, 1) {
			ctx, turn := begin(t, q, t.Context())
			if err := turn.Costly(ctx); err != nil {
				t.Fatal(err)
			}
			holders = append(holders, turn)
		}
		ctx, turn := begin(t, q, t.Context())
		time.Sleep(time.Second)
		leaving, leave := context.WithCancel(ctx)
		var works sync.WaitGroup
		for _, c := range []context.Context{ctx, ctx, leaving} {
			works.Go(func() {
				if err := turn.Check(c); (err != nil) != (c == leaving) {
					t.Errorf("Check = %v", err)
				}
			})
			time.Sleep(2 * time.Millisecond)
		}
		leave()
		synctest.Wait()
		if turn.Held() {
			t.Error("Held is true while the work waits for its turn")
		}
		turn.End()
		for _, holder := range holders {
			holder.End()
		}
		works.Wait()
		if turn.Held() {
			t.Error("Held is true after End")
		}
		_, next := begin(t, q, t.Context())
		if err := next.Costly(t.Context()); err != nil {
			t.Error(err)
		}
		next.End()
	})
}

// TestWait: work gives up its turn while it waits for a result that other work computes.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, made := fair.New(1, 0), make(chan struct{})
		ctx, waits := begin(t, q, t.Context())
		var work sync.WaitGroup
		work.Go(func() {
			if err := waits.Wait(ctx, made); err != nil || !waits.Held() {
				t.Errorf("Wait = %v", err)
			}
		})
		synctest.Wait()
		_, makes := begin(t, q, t.Context())
		makes.End()
		close(made)
		work.Wait()
		gone, leave := context.WithCancel(ctx)
		leave()
		if err := waits.Wait(gone, make(chan struct{})); !errors.Is(err, context.Canceled) {
			t.Errorf("Wait = %v after the client left", err)
		}
		waits.End()
	})
}

// TestAllProcessors: costly work uses all processors while no request arrives, one processor while
// requests arrive, and all of them again some time later.
func TestAllProcessors(t *testing.T) {
	if runtime.GOMAXPROCS(0) == 1 {
		t.Skip("the machine has only one processor")
	}
	synctest.Test(t, func(t *testing.T) {
		q := fair.New(1, 100)
		ctx, turn := begin(t, q, t.Context())
		if err := turn.Costly(ctx); err != nil {
			t.Fatal(err)
		}
		all := runtime.GOMAXPROCS(0)
		early := 20 + all // so many pieces may begin before the work sees whether requests arrive
		most := func(arriving bool) int {
			var running, most atomic.Int32
			err := fair.Each(ctx, early+80+4*all, func(i int) error {
				if arriving {
					q.NoteRequest()
				}
				n := running.Add(1)
				defer running.Add(-1)
				for i > early && n > most.Load() && !most.CompareAndSwap(most.Load(), n) {
				}
				time.Sleep(time.Millisecond)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
			return int(most.Load())
		}
		if got := most(false); got != all {
			t.Errorf("%d pieces at a time while no request arrives", got)
		}
		if got := most(true); got != 1 {
			t.Errorf("%d pieces at a time while requests arrive", got)
		}
		if got := most(false); got != all {
			t.Errorf("%d pieces at a time some time after the last request", got)
		}
		turn.End()
	})
}
