package materialize_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/configs"
	"vitrine/materialize"
)

// run is one run in a diary.
type run struct {
	view  string
	after time.Duration // time from the diary's start to the run's start
	full  bool
}

// diary records what a runner does.
type diary struct {
	mu       sync.Mutex // guards the fields below
	start    time.Time
	runs     []run
	outcomes []materialize.Outcome
	missed   int
	leading  []bool
}

func newDiary() *diary { return &diary{start: time.Now()} }

func (d *diary) observer() materialize.Observer {
	return materialize.Observer{
		Finished: func(out materialize.Outcome) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.runs = append(d.runs, run{out.View, out.Started.Sub(d.start), out.Full})
			d.outcomes = append(d.outcomes, out)
		},
		Missed: func(_ string, n int) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.missed += n
		},
		Leading: func(leading bool) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.leading = append(d.leading, leading)
		},
	}
}

func (d *diary) want(t *testing.T, want ...run) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Equal(d.runs, want) {
		t.Errorf("runs: got %v, want %v", d.runs, want)
	}
}

// started runs r until the caller calls the returned function, which waits for the end of Run.
func started(t *testing.T, r *materialize.Runner) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	synctest.Wait()
	return func() {
		t.Helper()
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	}
}

// idle is a job that does no work.
func idle(view string) materialize.Job {
	return materialize.Job{
		View: view, Source: view,
		Rows: func(materialize.Deps) (materialize.RowFunc, error) {
			return func(_ context.Context, r bson.Raw) (bson.Raw, error) { return r, nil }, nil
		},
	}
}

func TestRunOnSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDiary()
		r := newRunner(t, materialize.Options{
			Store: newFakeStore(), Observer: d.observer(),
			Jobs: []materialize.Job{idle("a"), idle("b"), idle("c")},
			Materialize: configs.Materialize{
				Schedule: map[string]string{"a": "@every 2m", "b": "*/3 * * * *", "c": "", "other": "not ours"}},
		})
		stop := started(t, r)
		time.Sleep(6*time.Minute + time.Second)
		stop()
		const m = time.Minute
		d.want(t, run{"a", 0, false}, run{"b", 0, false}, run{"c", 0, false},
			run{"a", 2 * m, false}, run{"b", 3 * m, false}, run{"a", 4 * m, false},
			run{"a", 6 * m, false}, run{"b", 6 * m, false})
		if d.missed != 0 {
			t.Errorf("%d missed", d.missed)
		}
	})
}

// On days when clocks change, the nightly full run takes place exactly once.
func TestNightlyFullRunAcrossClockChanges(t *testing.T) {
	tests := []struct {
		name  string
		start time.Time
		want  []time.Duration
	}{
		{"forward", time.Date(2000, 3, 24, 23, 0, 0, 0, time.UTC), // midnight in Berlin
			[]time.Duration{2*time.Hour + 30*time.Minute, 26 * time.Hour, 49*time.Hour + 30*time.Minute}},
		{"back", time.Date(2000, 10, 27, 22, 0, 0, 0, time.UTC),
			[]time.Duration{2*time.Hour + 30*time.Minute, 26*time.Hour + 30*time.Minute,
				51*time.Hour + 30*time.Minute}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(tt.start))
				d := newDiary()
				r := newRunner(t, materialize.Options{
					Store: newFakeStore(), Observer: d.observer(), Jobs: []materialize.Job{idle("a")},
					Materialize: configs.Materialize{Full: "30 2 * * *", Lease: time.Hour},
					Location:    zone(t, "Europe/Berlin"),
				})
				stop := started(t, r)
				time.Sleep(60 * time.Hour)
				stop()
				want := []run{{"a", 0, false}}
				for _, after := range tt.want {
					want = append(want, run{"a", after, true})
				}
				d.want(t, want...)
			})
		})
	}
}

// slow is a job whose every run takes a while.
func slow(view string, d time.Duration) materialize.Job {
	job := idle(view)
	job.Rows = func(materialize.Deps) (materialize.RowFunc, error) {
		time.Sleep(d)
		return func(_ context.Context, r bson.Raw) (bson.Raw, error) { return r, nil }, nil
	}
	return job
}

func TestMissedTimesAreCountedNotQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDiary()
		r := newRunner(t, materialize.Options{
			Store: newFakeStore(), Observer: d.observer(),
			Jobs:        []materialize.Job{slow("a", 150*time.Second)},
			Materialize: configs.Materialize{Schedule: map[string]string{"a": "@every 1m"}},
		})
		stop := started(t, r)
		time.Sleep(6*time.Minute + 10*time.Second)
		stop()
		// Each run misses the two slots during it.
		d.want(t, run{"a", 0, false}, run{"a", 3 * time.Minute, false}, run{"a", 6 * time.Minute, false})
		if d.missed != 6 {
			t.Errorf("%d missed, want two per run", d.missed)
		}
	})
}

func TestJobDelayedByAnotherRunsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDiary()
		r := newRunner(t, materialize.Options{
			Store: newFakeStore(), Observer: d.observer(),
			Jobs:        []materialize.Job{slow("a", 90*time.Second), idle("b")},
			Materialize: configs.Materialize{Schedule: map[string]string{"b": "@every 1m"}},
		})
		stop := started(t, r)
		time.Sleep(2*time.Minute + time.Second)
		stop()
		d.want(t, run{"a", 0, false}, run{"b", 90 * time.Second, false}, run{"b", 2 * time.Minute, false})
	})
}

// TestBefore: all jobs, scheduled and requested, wait for Before; none is lost.
func TestBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDiary()
		r := newRunner(t, materialize.Options{
			Store: newFakeStore(), Observer: d.observer(), Jobs: []materialize.Job{idle("a"), idle("b")},
			Before: func(ctx context.Context) {
				select {
				case <-ctx.Done():
				case <-time.After(7 * time.Second):
				}
			},
		})
		stop := started(t, r)
		time.Sleep(3 * time.Second)
		if err := r.Trigger(materialize.Request{Views: []string{"a"}, Full: true}); err != nil {
			t.Error(err)
		}
		time.Sleep(3 * time.Second)
		d.want(t)
		time.Sleep(time.Minute)
		stop()
		d.want(t, run{"a", 7 * time.Second, true}, run{"b", 7 * time.Second, false})
		started(t, r)() // Before ends with its context
	})
}

func TestTriggersAreCoalesced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDiary()
		r := newRunner(t, materialize.Options{
			Store: newFakeStore(), Observer: d.observer(),
			Jobs: []materialize.Job{slow("a", 10*time.Second), idle("b")},
		})
		if err := r.Trigger(materialize.Request{}); !errors.Is(err, materialize.ErrStandby) {
			t.Errorf("trigger without the lease: %v", err)
		}
		stop := started(t, r)
		time.Sleep(time.Minute)
		for i := range 10 {
			if err := r.Trigger(materialize.Request{Views: []string{"a"}, Full: i == 0}); err != nil {
				t.Error(err)
			}
		}
		time.Sleep(5 * time.Second) // into the run
		for range 10 {
			if err := r.Trigger(materialize.Request{}); err != nil {
				t.Error(err)
			}
		}
		if err := r.Trigger(materialize.Request{Views: []string{"a", "z"}}); !errors.Is(err,
			materialize.ErrUnknownView) || !strings.Contains(err.Error(), `"z"`) {
			t.Errorf("trigger of an unknown view: %v", err)
		}
		time.Sleep(time.Minute)
		stop()
		const s = time.Second
		d.want(t, run{"a", 0, false}, run{"b", 10 * s, false},
			run{"a", 60 * s, true}, run{"b", 70 * s, false}, run{"a", 70 * s, false})
		if !errors.Is(r.Trigger(materialize.Request{}), materialize.ErrStandby) {
			t.Error("still leading after the end")
		}
	})
}

func TestFailingJobBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFakeStore()
		store.replace("a", rec(1, "x"))
		var broken atomic.Bool
		broken.Store(true)
		store.onScan = func(context.Context, string) error {
			if broken.Load() {
				return errors.New("connection refused")
			}
			return nil
		}
		d := newDiary()
		r := newRunner(t, materialize.Options{
			Store: store, Observer: d.observer(), Jobs: []materialize.Job{idle("a")},
			Materialize: configs.Materialize{Schedule: map[string]string{"a": "@every 1s"}},
		})
		stop := started(t, r)
		time.Sleep(time.Hour)
		d.mu.Lock()
		runs := slices.Clone(d.runs)
		d.mu.Unlock()
		if len(runs) < 10 || len(runs) > 40 {
			t.Errorf("%d runs in an hour of errors, want a dozen or two", len(runs))
		}
		for i := 1; i < len(runs); i++ {
			wait := min(5*time.Second<<min(i-1, 10), 5*time.Minute)
			if gap := runs[i].after - runs[i-1].after; gap < wait/2 || gap > wait*3/2+time.Second {
				t.Errorf("try %d came %s after the previous one, want about %s", i+1, gap, wait)
			}
		}
		broken.Store(false)
		if err := r.Trigger(materialize.Request{}); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		d.mu.Lock()
		n := len(d.runs)
		d.mu.Unlock()
		time.Sleep(10*time.Second + time.Millisecond)
		d.mu.Lock()
		if got := len(d.runs) - n; got < 9 {
			t.Errorf("%d runs in ten seconds after recovery, want one each", got)
		}
		d.mu.Unlock()
		stop()
	})
}

func TestFailedFullRunIsTriedAgainInFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFakeStore()
		store.replace("a", rec(1, "x"))
		d := newDiary()
		r := newRunner(t,
			materialize.Options{Store: store, Observer: d.observer(), Jobs: []materialize.Job{idle("a")}})
		stop := started(t, r)
		var failed atomic.Bool
		store.onScan = func(context.Context, string) error {
			if !failed.Swap(true) {
				return errors.New("connection refused")
			}
			return nil
		}
		if err := r.Trigger(materialize.Request{Full: true}); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute)
		stop()
		if len(d.runs) != 3 || !d.runs[1].full || !d.runs[2].full || d.outcomes[1].Result != materialize.Failed ||
			d.outcomes[2].Err != nil {
			t.Errorf("runs: %v", d.runs)
		}
	})
}

func TestOnPublishHearsOfNewGenerations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFakeStore()
		store.replace("a", rec(1, "x"))
		var heard []uint64
		r := newRunner(t, materialize.Options{
			Store: store, Jobs: []materialize.Job{idle("a")},
			Materialize: configs.Materialize{Schedule: map[string]string{"a": "@every 1m"}},
			OnPublish:   func(m origin.Meta) { heard = append(heard, m.Generation) },
		})
		stop := started(t, r)
		time.Sleep(150 * time.Second) // two runs that find no change
		store.replace("a", rec(1, "y"))
		time.Sleep(time.Minute)
		stop()
		if !slices.Equal(heard, []uint64{1, 2}) {
			t.Errorf("notified of generations %v, want 1 and 2", heard)
		}
	})
}

func TestNewRefuses(t *testing.T) {
	tests := []struct {
		name string
		o    materialize.Options
		want string
	}{
		{"bad spec", materialize.Options{Jobs: []materialize.Job{idle("a")},
			Materialize: configs.Materialize{Schedule: map[string]string{"a": "often"}}}, `view a: schedule "often"`},
		{"bad full spec", materialize.Options{Materialize: configs.Materialize{Full: "@never"}},
			`full run: schedule "@never"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := materialize.New(tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}
