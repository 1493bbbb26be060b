package materialize_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/cache/origin"
	"vitrine/configs"
	"vitrine/materialize"
)

// TestFencedUnderAStandingLease: if the metas refuse the token of a lease that is held, the run counts as failed, the
// lease is given back and taken again with a token above theirs, and the view is published.
func TestFencedUnderAStandingLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, said := newFakeStore(), &strings.Builder{}
		store.replace("a", rec(1, "x"))
		d := newDiary()
		r := newRunner(t, materialize.Options{
			Store: store, Jobs: []materialize.Job{idle("a"), idle("b")}, Observer: d.observer(),
			Materialize: configs.Materialize{Schedule: map[string]string{"a": "@every 1m"}},
			Log:         slog.New(slog.NewTextHandler(said, nil)),
		})
		stop := started(t, r)
		store.replace("a", rec(1, "y"))
		store.outdate()
		time.Sleep(time.Minute)
		synctest.Wait()
		if !store.released() {
			t.Error("the lease was not given back")
		}
		if err := r.Trigger(materialize.Request{}); !errors.Is(err, materialize.ErrStandby) {
			t.Errorf("Trigger between two terms: %v, want ErrStandby", err)
		}
		time.Sleep(8 * time.Second)
		stop()
		if want := []bool{true, false, true, false}; !slices.Equal(d.leading, want) {
			t.Errorf("leading %v, want %v", d.leading, want)
		}
		if len(d.outcomes) != 5 {
			t.Fatalf("%d runs, want two, the refused one and two: %v", len(d.outcomes), d.runs)
		}
		refused, again := d.outcomes[2], d.outcomes[3]
		if refused.Result != materialize.Failed || !errors.Is(refused.Err, origin.ErrFenced) || !refused.Unrecorded ||
			refused.Meta.Generation != 1 {
			t.Errorf("refused run: %+v", refused)
		}
		if again.Result != materialize.Published || again.Unrecorded || again.Meta.Generation != 2 ||
			again.Meta.Health.Status != origin.HealthOK {
			t.Errorf("run of the next term: %+v", again)
		}
		for _, want := range []string{"level=ERROR msg=run view=a result=error",
			"is not the newest in the view's meta",
			"level=WARN msg=\"materializing ended"} {
			if !strings.Contains(said.String(), want) {
				t.Errorf("the log lacks %s:\n%s", want, said)
			}
		}
	})
}

// TestFencedAgainAndAgain: an instance whose every term ends fenced takes the lease ever more rarely, and each
// attempt counts as a failure.
func TestFencedAgainAndAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFakeStore()
		store.replace("a", rec(1, "x"))
		store.onScan = func(context.Context, string) error { store.outdate(); return nil }
		d := newDiary()
		r := newRunner(t,
			materialize.Options{Store: store, Jobs: []materialize.Job{idle("a")}, Observer: d.observer()})
		stop := started(t, r)
		time.Sleep(2 * time.Hour)
		stop()
		if n := len(d.outcomes); n < 15 || n > 60 {
			t.Errorf("%d terms in two hours, want one in five minutes in the end", n)
		}
		for _, out := range d.outcomes {
			if out.Result != materialize.Failed || !errors.Is(out.Err, origin.ErrFenced) {
				t.Errorf("outcome %s, %v", out.Result, out.Err)
			}
		}
	})
}

// TestFencedLeaderMakesWay: the instance that waits gets the lease which a fenced leader gives back, and publishes.
func TestFencedLeaderMakesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, leader, waiting := newFakeStore(), newDiary(), newDiary()
		run := func(d *diary) (stop func()) {
			return started(t, newRunner(t, materialize.Options{
				Store: store, Jobs: []materialize.Job{idle("a")}, Observer: d.observer(),
				Materialize: configs.Materialize{Schedule: map[string]string{"a": "@every 1m"},
					Lease: 15 * time.Second},
			}))
		}
		first, second := run(leader), run(waiting)
		store.replace("a", rec(1, "x"))
		store.outdate()
		time.Sleep(10 * time.Minute)
		second()
		first()
		if last := leader.outcomes[len(leader.outcomes)-1]; last.Result != materialize.Failed ||
			len(leader.leading) != 2 {
			t.Errorf("the first leader: its last run %+v; leading %v", last, leader.leading)
		}
		if next := waiting.outcomes[0]; next.Result != materialize.Published || next.Meta.Generation != 2 ||
			len(waiting.leading) != 2 {
			t.Errorf("the next leader: its first run %+v; leading %v", next, waiting.leading)
		}
	})
}

// TestHealthFenced: a run whose health alone was refused keeps its result, but ends the term, too.
func TestHealthFenced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFakeStore()
		store.replace("a", rec(1, "x"))
		var outdates atomic.Bool // the next run
		store.onScan = func(context.Context, string) error {
			if outdates.Swap(false) {
				store.outdate()
			}
			return nil
		}
		d := newDiary()
		r := newRunner(t, materialize.Options{
			Store: store, Jobs: []materialize.Job{idle("a")}, Observer: d.observer(),
			Materialize: configs.Materialize{Schedule: map[string]string{"a": "@every 1m"}},
		})
		stop := started(t, r)
		outdates.Store(true)
		time.Sleep(time.Minute + 8*time.Second)
		stop()
		if len(d.outcomes) != 3 {
			t.Fatalf("runs: %v", d.runs)
		}
		if out := d.outcomes[1]; out.Result != materialize.Unchanged || !errors.Is(out.Err, origin.ErrFenced) ||
			!out.Unrecorded {
			t.Errorf("run whose health was refused: %+v", out)
		}
		if out := d.outcomes[2]; out.Result != materialize.Unchanged || out.Err != nil || out.Unrecorded {
			t.Errorf("run of the next term: %+v", out)
		}
	})
}

// TestRunOnceFenced: RunOnce ends with the first run that is refused, and gives the lease back.
func TestRunOnceFenced(t *testing.T) {
	store := newFakeStore()
	store.replace("a", rec(1, "x"))
	store.onPut = func([]origin.Row) { store.outdate() }
	r := newRunner(t, materialize.Options{Store: store, Jobs: []materialize.Job{idle("a"), idle("b")}})
	outs, err := r.RunOnce(t.Context(), materialize.Request{}, nil)
	if !errors.Is(err, origin.ErrFenced) || len(outs) != 1 || outs[0].Result != materialize.Failed ||
		!store.released() {
		t.Errorf("got %+v, %v; released %t", outs, err, store.released())
	}
	store.onPut = nil
	if outs, err := r.RunOnce(t.Context(), materialize.Request{}, nil); err != nil ||
		outs[0].Result != materialize.Published {
		t.Errorf("the next time: %+v, %v", outs, err)
	}
}
