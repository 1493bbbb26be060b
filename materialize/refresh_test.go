package materialize_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/materialize"
)

// TestRefreshWaits: Refresh returns the outcomes of the runs that it requested, failed ones too, or
// an error if there will be none.
func TestRefreshWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFakeStore()
		store.replace("a", rec(1, "x"))
		r := newRunner(t,
			materialize.Options{Store: store, Jobs: []materialize.Job{slow("a", 10*time.Second), idle("b")}})
		if _, err := r.Refresh(t.Context(), materialize.Request{}); !errors.Is(err, materialize.ErrStandby) {
			t.Errorf("Refresh without the lease: %v", err)
		}
		stop := started(t, r)
		time.Sleep(5 * time.Second) // into the first run, which started before the request
		began := time.Now()
		outcomes, err := r.Refresh(t.Context(), materialize.Request{Full: true})
		if took := time.Since(began); err != nil || len(outcomes) != 2 || !outcomes[0].Full ||
			outcomes[0].View != "a" || outcomes[1].Err != nil || took < 10*time.Second {
			t.Errorf("after %s: %+v, %v", took, outcomes, err)
		}
		store.onScan = func(context.Context, string) error { return errors.New("connection refused") }
		if outcomes, err := r.Refresh(t.Context(), materialize.Request{Views: []string{"a"}}); err != nil ||
			len(outcomes) != 1 || outcomes[0].Result != materialize.Failed {
			t.Errorf("Refresh with a failing run: %+v, %v", outcomes, err)
		}
		brief, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		store.onScan = nil
		if _, err := r.Refresh(brief, materialize.Request{Views: []string{"a"}}); !errors.Is(err,
			context.DeadlineExceeded) {
			t.Errorf("Refresh with too short a timeout: %v", err)
		}
		left := make(chan error)
		go func() {
			_, err := r.Refresh(context.Background(), materialize.Request{})
			left <- err
		}()
		time.Sleep(time.Second)
		go stop()
		if err := <-left; !errors.Is(err, materialize.ErrStandby) {
			t.Errorf("Refresh while the runner stops: %v", err)
		}
	})
}
