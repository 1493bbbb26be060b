package materialize_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/configs"
	"vitrine/materialize"
)

// results returns the results of the runs of a view so far.
func (d *diary) results(view string) (all []materialize.Result) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, out := range d.outcomes {
		if out.View == view {
			all = append(all, out.Result)
		}
	}
	return all
}

// TestForceBelongsToOneRun: a forced run that fails leaves a task that is tried again without force, so that a
// collection which was emptied meanwhile is held. However a forced request arrives, one run has its force.
func TestForceBelongsToOneRun(t *testing.T) {
	forced := materialize.Request{Force: true, Full: true}
	trigger := func(t *testing.T, r *materialize.Runner, q materialize.Request) {
		if err := r.Trigger(q); err != nil {
			t.Error(err)
		}
	}
	tests := []struct {
		name string
		ask  func(t *testing.T, r *materialize.Runner)
	}{
		{"alone", func(t *testing.T, r *materialize.Runner) { trigger(t, r, forced) }},
		{"coalesced with an ordinary request", func(t *testing.T, r *materialize.Runner) {
			// The runner works for another view until all requests are there: it could begin the first one's run
			// before the second arrives.
			trigger(t, r, materialize.Request{Views: []string{"busy"}})
			synctest.Wait()
			for _, q := range []materialize.Request{{}, forced, {}} {
				q.Views = []string{"a"}
				trigger(t, r, q)
			}
			time.Sleep(time.Second) // until that work ends
		}},
		{"waiting", func(t *testing.T, r *materialize.Runner) {
			if outs, err := r.Refresh(t.Context(), forced); err != nil || outs[0].Result != materialize.Failed {
				t.Errorf("forced: %v, %v", outs, err)
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newFakeStore()
				store.replace("a", records(10)...)
				var failing atomic.Bool // the next commit fails
				store.onCommit = func() error {
					if failing.Swap(false) {
						return errors.New("connection refused")
					}
					return nil
				}
				d := newDiary()
				r := newRunner(t, materialize.Options{
					Store: store, Observer: d.observer(), Materialize: configs.Materialize{MaxShrink: 0.2},
					Jobs: []materialize.Job{idle("a"), slow("busy", time.Second)},
				})
				stop := started(t, r)
				defer stop()
				time.Sleep(time.Minute)
				failing.Store(true)
				store.replace("a", records(5)...)
				tt.ask(t, r)
				synctest.Wait()
				store.replace("a")
				time.Sleep(time.Hour)
				want := []materialize.Result{materialize.Published, materialize.Failed, materialize.Held}
				if got := d.results("a"); !slices.Equal(got, want) {
					t.Errorf("runs: %v, want %v", got, want)
				}
				if !d.outcomes[len(d.outcomes)-1].Full {
					t.Error("the second try is not full, though the request was")
				}
				if meta, _ := store.Meta(t.Context(), "a"); meta.Rows != 10 || meta.Generation != 1 {
					t.Errorf("published: %+v", meta)
				}
			})
		})
	}
}

// TestForceDuringARun: a forced request that arrives during a run belongs to the next one, and only to that.
func TestForceDuringARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFakeStore()
		store.replace("a", records(10)...)
		var failing atomic.Bool
		store.onScan = func(context.Context, string) error {
			if failing.Load() {
				return errors.New("connection refused")
			}
			return nil
		}
		d := newDiary()
		r := newRunner(t, materialize.Options{
			Store: store, Observer: d.observer(), Jobs: []materialize.Job{slow("a", 10*time.Second)},
			Materialize: configs.Materialize{MaxShrink: 0.2},
		})
		stop := started(t, r)
		defer stop()
		time.Sleep(time.Minute)
		failing.Store(true)
		ask := func(q materialize.Request) {
			if err := r.Trigger(q); err != nil {
				t.Error(err)
			}
		}
		ask(materialize.Request{})
		time.Sleep(time.Second) // into the run, which fails
		ask(materialize.Request{Force: true})
		store.replace("a", records(5)...)
		time.Sleep(10 * time.Second) // into the forced run
		failing.Store(false)
		time.Sleep(15 * time.Second)
		store.replace("a", records(1)...)
		ask(materialize.Request{})
		time.Sleep(time.Hour)
		want := []materialize.Result{materialize.Published, materialize.Failed, materialize.Published,
			materialize.Held}
		if got := d.results("a"); !slices.Equal(got, want) {
			t.Errorf("runs: %v, want %v", got, want)
		}
	})
}
