package fair_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/cache/fair"
	"vitrine/rules"
)

// asking does work that asks in a line for some time, and returns the error of Enter.
func asking(ctx context.Context, q *fair.Queue, l *fair.Line, took time.Duration, then func()) error {
	ctx, turn, err := q.Begin(ctx)
	if err != nil {
		return err
	}
	defer turn.End()
	if _, err := l.Enter(ctx); err != nil {
		return err
	}
	err = turn.RunPaused(ctx, func() error { time.Sleep(took); return nil })
	then()
	return err
}

// TestLine: 64 works with a deadline of eleven seconds ask a store that takes two seconds, four at a time. Those that
// end within half of their time are answered in their order; the others are refused as soon as the line knows how
// long works take. A later one that has less time is refused at once, with the time until its turn would come.
func TestLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, l, began := fair.New(8, 100), fair.NewLine(4), time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 11*time.Second)
		defer cancel()
		var mu sync.Mutex
		var order []int
		refused := 0
		var works sync.WaitGroup
		for i := range 64 {
			works.Go(func() {
				err := asking(ctx, q, l, 2*time.Second, func() { mu.Lock(); order = append(order, i); mu.Unlock() })
				var retry *rules.RetryError
				switch {
				case err == nil:
				case !errors.As(err, &retry) || !errors.Is(err, rules.ErrUnavailable) || retry.After <= 0 ||
					time.Since(began) > 2*time.Second+100*time.Millisecond:
					t.Errorf("work %d after %v: %v", i, time.Since(began), err)
				default:
					mu.Lock()
					refused++
					mu.Unlock()
				}
			})
			synctest.Wait()
		}
		if s := l.Stats(); s != (fair.LineStats{Used: 4, Waiting: 60}) {
			t.Errorf("stats while works wait: %+v", s)
		}
		time.Sleep(3 * time.Second)
		short, end := context.WithTimeout(t.Context(), 3*time.Second)
		defer end()
		if err := asking(short, q, l, 0, func() {}); !errors.Is(err, rules.ErrUnavailable) ||
			time.Since(began) != 3*time.Second {
			t.Errorf("a work that would come too late: %v after %v", err, time.Since(began))
		}
		works.Wait()
		if len(order) != 10 || refused != 54 {
			t.Errorf("%d works answered, %d refused", len(order), refused)
		}
		if s := l.Stats(); s != (fair.LineStats{Refused: 55, SlotTime: 2 * time.Second}) {
			t.Errorf("stats afterwards: %+v", s)
		}
		for i, n := range order {
			if n/4 != i/4 { // four at a time
				t.Fatalf("answered in the order %v", order)
			}
		}
	})
}

// TestLineOfSlowWorks: if works need more than half of the time until their deadlines, a line with free slots admits
// one at a time, and refuses the others at once. When works are faster again, it admits more.
func TestLineOfSlowWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, l := fair.New(8, 100), fair.NewLine(4)
		together := func(took time.Duration) (answered int) {
			var mu sync.Mutex
			var works sync.WaitGroup
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			for range 3 {
				works.Go(func() {
					began := time.Now()
					err := asking(ctx, q, l, took, func() { mu.Lock(); answered++; mu.Unlock() })
					var retry *rules.RetryError
					if err != nil && (!errors.As(err, &retry) || retry.After <= 0 || time.Since(began) > 0) {
						t.Errorf("%v after %v", err, time.Since(began))
					}
				})
				synctest.Wait()
			}
			works.Wait()
			return answered
		}
		if n := together(6 * time.Second); n != 3 { // the line has no estimate yet
			t.Errorf("%d of the first three works answered, want 3", n)
		}
		if n := together(6 * time.Second); n != 1 {
			t.Errorf("%d of three slow works answered, want 1", n)
		}
		for range 3 {
			_ = together(time.Second)
		}
		if n := together(time.Second); n != 3 {
			t.Errorf("%d of three fast works answered, want 3", n)
		}
	})
}

// TestLineKeepsPlaces: work has one place for all its questions, gives it to others while it is paused, and then goes
// before new work. A work that leaves is no longer in line.
func TestLineKeepsPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, l := fair.New(8, 100), fair.NewLine(1)
		ctx, turn, err := q.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := l.Enter(ctx); err != nil {
				t.Fatal(err)
			}
		}
		gone, leave := context.WithCancel(t.Context())
		var works sync.WaitGroup
		var order []string
		works.Go(func() {
			if err := asking(gone, q, l, 0, func() {}); !errors.Is(err, context.Canceled) {
				t.Errorf("Enter = %v after the client left", err)
			}
		})
		synctest.Wait()
		leave()
		synctest.Wait()
		for _, name := range []string{"second", "third"} {
			works.Go(func() {
				if err := asking(t.Context(), q, l, time.Second, func() { order = append(order, name) }); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		turn.Pause() // the second gets the place
		synctest.Wait()
		if err := turn.Resume(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Enter(ctx); err != nil {
			t.Fatal(err)
		}
		order = append(order, "first")
		turn.End()
		works.Wait()
		if len(order) != 3 || order[0] != "second" || order[1] != "first" {
			t.Errorf("order %v", order)
		}
		for range 2 { // a work without a turn has a place for one question
			leave, err := l.Enter(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			leave()
		}
	})
}
