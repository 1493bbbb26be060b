package kept_test

import (
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/cache/kept"
)

// TestDroppedWhileFresh: an answer that another flight has just brought may be dropped before it is read. The request
// then fetches it again, instead of getting an answer without a status.
func TestDroppedWhileFresh(t *testing.T) {
	m := newMemory()
	var w *world
	var steps []func() // at the next readings of the clock
	w = newWorld(t, func(o *kept.Options, _ *kept.Rule) {
		o.Store = m
		o.Now = func() time.Time {
			if len(steps) > 0 {
				step := steps[0]
				steps = steps[1:]
				later := steps
				steps = nil // not for what the step itself does
				step()
				steps = later
			}
			return time.Now()
		}
	})
	nothing := func() {}
	steps = []func(){
		nothing, nothing, nothing,
		func() { w.want(t, bio, kept.Fetched, 0) }, // before the request looks for a flight
		func() { // the entry is fresh, and a reader finds that its body is gone
			_ = m.do("", func(*memoryDoc, uint64) error { delete(m.docs, bio); return errDown })
			if _, err := w.Body(t.Context(), w.Peek(bio)); err == nil {
				t.Error("the body is still there")
			}
		},
	}
	found, err := w.Get(t.Context(), client, w.rule, bio)
	if err != nil || found.Entry == nil {
		t.Errorf("%+v (%v), want an answer", found, err)
	}
	if len(steps) > 0 || w.server.count(bio) != 2 {
		t.Errorf("%d steps left, %d requests", len(steps), w.server.count(bio))
	}
}

// TestHangingKeys: one client that requests what hangs leaves a connection for others, also for those who wait for
// the same keys as it does.
func TestHangingKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(_ *kept.Options, r *kept.Rule) { r.Connections = 4 })
		hang := make(chan struct{})
		w.server.answer = func(r kept.Request) (kept.Answer, error) {
			if r.Target < "/portfolio/hang4" {
				<-hang
			}
			return jsonAnswer(fmt.Sprintf(`{"key":%q}`, r.Target)), nil
		}
		for i := range 8 {
			go func() { _, _ = w.Get(t.Context(), client, w.rule, fmt.Sprintf("/portfolio/hang%d", i)) }()
			synctest.Wait()
		}
		other := netip.MustParsePrefix("192.0.2.2/32")
		began := time.Now()
		for _, key := range []string{bio, "/portfolio/hang7"} { // which is no key that hangs
			if _, err := w.Get(t.Context(), other, w.rule, key); err != nil {
				t.Errorf("%s: %v", key, err)
			}
		}
		if took := time.Since(began); took > time.Second { // of turns
			t.Errorf("another client waited for %v", took)
		}
		close(hang)
	})
}

// TestClockBack: after the clock was ahead, and without a store, new answers replace those from then.
func TestClockBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ahead := 48 * time.Hour
		w := newWorld(t, func(o *kept.Options, _ *kept.Rule) {
			o.Now = func() time.Time { return time.Now().Add(ahead) }
		})
		w.want(t, bio, kept.Fetched, 0)
		ahead = 0
		w.server.set(func(s *server) { s.version = 1 })
		w.want(t, bio, kept.Fetched, 1)
		w.want(t, bio, kept.Hit, 1)
		time.Sleep(time.Second)
		w.views.publish("activities")
		w.server.set(func(s *server) { s.version = 2 })
		w.want(t, bio, kept.Fetched, 2)
		w.want(t, bio, kept.Hit, 2)
	})
}
