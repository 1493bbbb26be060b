package materialize_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/configs"
	"vitrine/materialize"
)

func TestLeaseLostDuringARunPublishesNothing(t *testing.T) {
	tests := []struct {
		name string
		lose func(*fakeStore) // called in the middle of a run
	}{
		{"taken by another, noticed when renewing",
			func(s *fakeStore) { s.steal(time.Minute); time.Sleep(20 * time.Second) }},
		{"taken by another, noticed by the store", func(s *fakeStore) { s.steal(time.Minute) }},
		{"run out while the store did not answer", func(s *fakeStore) {
			s.silent.Store(true)
			time.Sleep(time.Minute)
			s.silent.Store(false)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newFakeStore()
				store.replace("a", rec(1, "x"))
				lost := false
				job := idle("a")
				job.Rows = func(materialize.Deps) (materialize.RowFunc, error) {
					return func(_ context.Context, r bson.Raw) (bson.Raw, error) {
						if !lost {
							lost = true
							tt.lose(store)
						}
						return r, nil
					}, nil
				}
				d := newDiary()
				r := newRunner(t,
					materialize.Options{Store: store, Jobs: []materialize.Job{job}, Observer: d.observer()})
				var atLoss origin.Meta
				store.onPut = func([]origin.Row) { atLoss, _ = store.Meta(t.Context(), "a") }
				stop := started(t, r)
				time.Sleep(10 * time.Minute)
				stop()
				if len(d.outcomes) != 2 {
					t.Fatalf("%d runs, want the lost one and another: %v", len(d.outcomes), d.runs)
				}
				first, second := d.outcomes[0], d.outcomes[1]
				if first.Result != materialize.Stopped || !errors.Is(first.Err, origin.ErrFenced) {
					t.Errorf("first run: %s, %v", first.Result, first.Err)
				}
				if atLoss.Generation != 0 || atLoss.Health.Status != "" {
					t.Errorf("published or reported without the lease: %+v", atLoss)
				}
				if second.Result != materialize.Published || second.Meta.Generation != 1 {
					t.Errorf("second run: %s, generation %d", second.Result, second.Meta.Generation)
				}
				if want := []bool{true, false, true, false}; len(d.leading) != len(want) {
					t.Errorf("leading: got %v, want %v", d.leading, want)
				}
			})
		})
	}
}

// While runners start and stop, at most one of them works at a time.
func TestTwoRunnersNeverWorkAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFakeStore()
		var working, runs atomic.Int32
		job := idle("a")
		job.Rows = func(materialize.Deps) (materialize.RowFunc, error) {
			if working.Add(1) > 1 {
				t.Error("two runners worked at the same time")
			}
			runs.Add(1)
			time.Sleep(7 * time.Second)
			working.Add(-1)
			return func(_ context.Context, r bson.Raw) (bson.Raw, error) { return r, nil }, nil
		}
		diaries := []*diary{newDiary(), newDiary()}
		var stops []func()
		for _, d := range diaries {
			r := newRunner(t, materialize.Options{
				Store: store, Jobs: []materialize.Job{job}, Observer: d.observer(),
				Materialize: configs.Materialize{Schedule: map[string]string{"a": "@every 10s"}},
			})
			stops = append(stops, started(t, r))
		}
		time.Sleep(5 * time.Minute)
		stops[0]()
		before := runs.Load()
		time.Sleep(5 * time.Minute)
		stops[1]()
		if len(diaries[0].runs) == 0 || len(diaries[1].runs) == 0 || runs.Load() < before+20 {
			t.Errorf("the first ran %d times, the second %d times", len(diaries[0].runs), len(diaries[1].runs))
		}
		if !store.released() {
			t.Error("an instance still holds the lease")
		}
	})
}

// If an instance is killed, another takes its lease soon after a whole term without a renewal. The
// test drives the clock, so that it can check the time.
func TestLeaseOfTheDeadPassesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 20 { // waiting instances pause for random times
			store, died := newFakeStore(), time.Now()
			store.steal(30 * time.Second)
			leads := make(chan struct{})
			stop := started(t, newRunner(t,
				materialize.Options{Store: store, Jobs: []materialize.Job{idle("a")}, Observer: materialize.Observer{
					Leading: func(yes bool) {
						if yes {
							close(leads)
						}
					},
				}}))
			<-leads
			if waited := time.Since(died); waited < 30*time.Second || waited > 35*time.Second {
				t.Errorf("another instance took a lease of 30 s after %v", waited)
			}
			stop()
		}
	})
}

func TestStoppingEndsARunAndGivesTheLeaseBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFakeStore()
		store.replace("a", rec(1, "x"))
		job := idle("a")
		job.Rows = func(materialize.Deps) (materialize.RowFunc, error) {
			return func(ctx context.Context, _ bson.Raw) (bson.Raw, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}, nil
		}
		d := newDiary()
		r := newRunner(t, materialize.Options{Store: store, Jobs: []materialize.Job{job}, Observer: d.observer()})
		stop := started(t, r)
		time.Sleep(time.Hour)
		stop()
		if len(d.outcomes) != 1 || d.outcomes[0].Result != materialize.Stopped || d.outcomes[0].Skipped != 0 {
			t.Errorf("outcomes: %+v", d.outcomes)
		}
		if !store.released() || store.aborted != 1 {
			t.Errorf("released %t, aborted %d", store.released(), store.aborted)
		}
	})
}

func TestRunWaitsForAStoreThatDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFakeStore()
		store.silent.Store(true)
		d := newDiary()
		r := newRunner(t,
			materialize.Options{Store: store, Jobs: []materialize.Job{idle("a")}, Observer: d.observer()})
		if _, err := r.RunOnce(t.Context(), materialize.Request{}, nil); err == nil {
			t.Error("RunOnce waited for a store that is down")
		}
		stop := started(t, r)
		time.Sleep(time.Hour)
		store.silent.Store(false)
		time.Sleep(time.Minute)
		stop()
		if len(d.runs) != 1 {
			t.Errorf("runs: %v", d.runs)
		}
	})
}

func TestRunOnceWaitsForTheLeaseOfTheDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, said := newFakeStore(), &strings.Builder{}
		r := newRunner(t, materialize.Options{Store: store, Jobs: []materialize.Job{idle("a"), idle("b")},
			Log: slog.New(slog.NewTextHandler(said, nil))})
		store.steal(25 * time.Second)
		outs, err := r.RunOnce(t.Context(), materialize.Request{Views: []string{"b"}}, nil)
		if err != nil || len(outs) != 1 || outs[0].View != "b" || outs[0].Result != materialize.Published {
			t.Errorf("RunOnce beside a dead holder: %v, %v", outs, err)
		}
		if !strings.Contains(said.String(), "waiting: another instance materializes") ||
			!strings.Contains(said.String(), "patience=45s") {
			t.Errorf("the log does not say that it waits: %s", said)
		}
		store.steal(time.Hour)
		if _, err := r.RunOnce(t.Context(), materialize.Request{}, nil); !errors.Is(err, origin.ErrLeaseHeld) {
			t.Errorf("RunOnce beside a live holder: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := r.RunOnce(ctx, materialize.Request{}, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("RunOnce without time to wait: %v", err)
		}
		if _, err := r.RunOnce(t.Context(), materialize.Request{Views: []string{"z"}}, nil); !errors.Is(err,
			materialize.ErrUnknownView) {
			t.Errorf("RunOnce of an unknown view: %v", err)
		}
	})
}

func TestRunOnceStopsWhenTheLeaseIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFakeStore()
		store.replace("a", rec(1, "x"))
		store.onPut = func([]origin.Row) { store.steal(time.Minute) }
		r := newRunner(t, materialize.Options{Store: store, Jobs: []materialize.Job{idle("a"), idle("b")}})
		outs, err := r.RunOnce(t.Context(), materialize.Request{}, nil)
		if !errors.Is(err, origin.ErrFenced) || len(outs) != 1 || outs[0].Result != materialize.Stopped {
			t.Errorf("got %v, %v", outs, err)
		}
	})
}

func TestProgressIsTold(t *testing.T) {
	store := newFakeStore()
	var docs []any
	for i := range int32(5000) {
		docs = append(docs, rec(i, "x"))
	}
	store.replace("a", docs...)
	r := newRunner(t, materialize.Options{Store: store, Jobs: []materialize.Job{idle("a")}, Batch: 1000})
	for _, total := range []int{0, 5000} {
		var reported []materialize.Progress
		if _, err := r.RunOnce(t.Context(), materialize.Request{},
			func(p materialize.Progress) { reported = append(reported, p) }); err != nil {
			t.Fatal(err)
		}
		last := materialize.Progress{View: "a", Scanned: 5000, Total: total, Changed: 5000 - total, Done: true}
		if len(reported) < 3 || reported[len(reported)-1] != last {
			t.Errorf("reported %v, want several with %+v as last", reported, last)
		}
		for i := 1; i < len(reported); i++ {
			if reported[i].Scanned < reported[i-1].Scanned || reported[i].Changed < reported[i-1].Changed {
				t.Errorf("reported %+v after %+v", reported[i], reported[i-1])
			}
		}
	}
}
