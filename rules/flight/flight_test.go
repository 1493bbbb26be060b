package flight_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"vitrine/rules/flight"
	"vitrine/rules/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

var errGone = errors.New("gone")

// TestCallerLeaves: when the caller that began a run leaves, the run goes on for the others, and for those that come
// when all have left.
func TestCallerLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var group flight.Group[string, string]
		end := make(chan bool)
		ctx, cancel := context.WithCancelCause(context.WithValue(t.Context(), errGone, "kept"))
		first := make(chan error)
		go func() {
			_, role, err := group.Do(ctx, "key", func(ctx context.Context) (string, error) {
				<-end
				return fmt.Sprint(ctx.Value(errGone)), ctx.Err()
			})
			if role != flight.Left {
				t.Errorf("the first caller: role %d", role)
			}
			first <- err
		}()
		synctest.Wait()
		cancel(errGone)
		if err := <-first; !errors.Is(err, errGone) {
			t.Errorf("the first caller: %v, want %v", err, errGone)
		}
		go close(end)
		value, role, err := group.Do(t.Context(), "key", nil)
		if value != "kept" || role != flight.Joined || err != nil {
			t.Errorf("the second caller: %q, role %d, %v", value, role, err)
		}
	})
}

// TestCancel: in a group that cancels, a run ends when its last caller leaves, and not before. The next caller begins
// another run.
func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		group := flight.Group[int, int]{Cancel: true}
		var ended atomic.Bool
		work := func(ctx context.Context) (int, error) {
			<-ctx.Done()
			ended.Store(true)
			return 0, ctx.Err()
		}
		var leave [2]context.CancelFunc
		var callers sync.WaitGroup
		for i := range leave {
			var ctx context.Context
			ctx, leave[i] = context.WithCancel(t.Context())
			callers.Go(func() {
				if _, role, err := group.Do(ctx, 1, work); role != flight.Left || !errors.Is(err, context.Canceled) {
					t.Errorf("caller %d: role %d, %v", i, role, err)
				}
			})
		}
		synctest.Wait()
		leave[0]()
		synctest.Wait()
		if ended.Load() {
			t.Error("the run ended, although a caller waits for it")
		}
		leave[1]()
		callers.Wait()
		value, role, err := group.Do(t.Context(), 1, func(context.Context) (int, error) { return 2, nil })
		if value != 2 || role != flight.Began || err != nil {
			t.Errorf("the next caller: %d, role %d, %v", value, role, err)
		}
		if synctest.Wait(); !ended.Load() {
			t.Error("the run goes on without callers")
		}
	})
}

// TestGrace: a caller whose deadline has passed gets the error of a run that ends by the same deadline.
func TestGrace(t *testing.T) {
	for grace, want := range map[time.Duration]flight.Role{0: flight.Left, time.Second: flight.Began} {
		synctest.Test(t, func(t *testing.T) {
			group := flight.Group[int, int]{Grace: grace}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, role, err := group.Do(ctx, 1, func(context.Context) (int, error) {
				time.Sleep(time.Minute + time.Millisecond)
				return 0, errGone
			})
			if role != want || errors.Is(err, errGone) != (want == flight.Began) {
				t.Errorf("with a grace of %v: role %d, %v", grace, role, err)
			}
			time.Sleep(time.Second) // until the run has ended
		})
	}
}

// TestExpired: callers that joined a run which ran out of its first caller's time run the work again, once for all.
func TestExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var group flight.Group[int, int]
		runs := 0 // one at a time
		work := func(context.Context) (int, error) {
			time.Sleep(time.Second)
			if runs++; runs == 1 {
				return 0, flight.Expired(errGone)
			}
			return runs, nil
		}
		var callers sync.WaitGroup
		for i := range 5 {
			callers.Go(func() {
				value, _, err := group.Do(t.Context(), 1, work)
				if first := i == 0; first != errors.Is(err, errGone) || !first && value != 2 {
					t.Errorf("caller %d: %d, %v", i, value, err)
				}
			})
			synctest.Wait()
		}
		callers.Wait()
		if runs != 2 {
			t.Errorf("%d runs, want 2", runs)
		}
	})
}

// TestPanic: a panic of the work is an error for all callers of Do. The caller that leads panics, and another one
// then runs its own work.
func TestPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var group flight.Group[string, int]
		var callers sync.WaitGroup
		for range 3 {
			callers.Go(func() {
				value, _, err := group.Do(t.Context(), "key", func(context.Context) (int, error) {
					time.Sleep(time.Second)
					panic("oops")
				})
				if value != 0 || err == nil || !strings.Contains(err.Error(), "oops") {
					t.Errorf("%d, %v, want an error that names the panic", value, err)
				}
			})
		}
		callers.Wait()
		callers.Go(func() {
			defer func() {
				if recover() == nil {
					t.Error("the leader returns")
				}
			}()
			_, _ = group.Lead("key", wait, func() (int, error) { time.Sleep(time.Second); panic("oops") })
		})
		synctest.Wait()
		if value, err := group.Lead("key", wait, func() (int, error) { return 5, nil }); value != 5 || err != nil {
			t.Errorf("%d, %v after another caller's panic", value, err)
		}
		callers.Wait()
	})
}

// wait is the wait of a caller without a context.
func wait(done <-chan struct{}) error {
	<-done
	return nil
}

// TestLead: one caller works, and the others get its value. If it fails, one of the others works; a caller that
// cannot wait gets its own error.
func TestLead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var group flight.Group[int, int]
		errs := make(chan error, 1)
		go func() {
			_, err := group.Lead(1, wait, func() (int, error) { time.Sleep(time.Second); return 0, errGone })
			errs <- err
		}()
		synctest.Wait()
		var runs atomic.Int32
		var callers sync.WaitGroup
		for range 4 {
			callers.Go(func() {
				value, err := group.Lead(1, wait, func() (int, error) {
					time.Sleep(time.Second)
					return int(runs.Add(1)), nil
				})
				if value != 1 || err != nil {
					t.Errorf("%d, %v, want 1", value, err)
				}
			})
		}
		impatient := errors.New("impatient")
		if _, err := group.Lead(1, func(<-chan struct{}) error { return impatient }, nil); !errors.Is(err,
			impatient) {
			t.Errorf("%v, want %v", err, impatient)
		}
		callers.Wait()
		if err := <-errs; !errors.Is(err, errGone) {
			t.Errorf("the leader: %v, want %v", err, errGone)
		}
	})
}

// TestJoin: the caller that begins a run ends it; a run that was removed before its end does not remove its
// successor.
func TestJoin(t *testing.T) {
	var group flight.Group[string, int]
	run, begins := group.Join("key")
	if again, other := group.Join("key"); !begins || other || again != run || group.Running("key") != run {
		t.Fatal("want one run for both callers")
	}
	group.End("key", run, 3, errGone)
	<-run.Done()
	if value, err := run.Result(); value != 3 || !errors.Is(err, errGone) || group.Running("key") != nil {
		t.Errorf("%d, %v, then %v", value, err, group.Running("key"))
	}
}

// TestOneAtATime: whatever callers do, no two runs of a key overlap in a group that does not cancel, each caller that
// stays has the value of a run that lasted during its call, and no run is left.
func TestOneAtATime(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		type caller struct{ begins, leaves, works int }
		times := rapid.IntRange(0, 20)
		all := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) caller {
			return caller{times.Draw(r, "begins"), times.Draw(r, "leaves"), times.Draw(r, "works")}
		}), 1, 8).Draw(r, "callers")
		lead := rapid.Bool().Draw(r, "lead")
		synctest.Test(t, func(t *testing.T) {
			var group flight.Group[int, time.Time]
			var running atomic.Int32
			work := func(c caller) (time.Time, error) {
				if running.Add(1) > 1 {
					t.Error("two runs overlap")
				}
				defer running.Add(-1)
				time.Sleep(time.Duration(c.works)*time.Second + time.Millisecond)
				return time.Now(), nil
			}
			var callers sync.WaitGroup
			for _, c := range all {
				callers.Go(func() {
					time.Sleep(time.Duration(c.begins) * time.Second)
					began := time.Now()
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(c.leaves)*time.Second)
					defer cancel()
					var ended time.Time
					var err error
					if lead {
						ended, err = group.Lead(0, func(done <-chan struct{}) error {
							select {
							case <-done:
								return nil
							case <-ctx.Done():
								return ctx.Err()
							}
						}, func() (time.Time, error) { return work(c) })
					} else {
						ended, _, err = group.Do(ctx, 0, func(context.Context) (time.Time, error) { return work(c) })
					}
					if err == nil && (ended.Before(began) || ended.After(time.Now())) ||
						err != nil && ctx.Err() == nil {
						t.Errorf("%v during %v to %v: %v", ended, began, time.Now(), err)
					}
				})
			}
			callers.Wait()
			time.Sleep(time.Minute)
			if group.Running(0) != nil {
				t.Error("a run is left")
			}
		})
	})
}
