package origintest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"vitrine/cache/origin"
	"vitrine/rules"
)

var leaseTests = map[string]func(*testing.T, Harness){
	"one holder at a time":                 testLeaseHeld,
	"the same holder renews":               testLeaseSameHolder,
	"an expired lease is taken over":       testLeaseTakeover,
	"an expired lease holds until taken":   testLeaseExpired,
	"a released lease is free":             testLeaseRelease,
	"names are independent":                testLeaseNames,
	"of many who try at once one succeeds": testLeaseRace,
	"name and holder must be given":        testLeaseUnnamed,
}

func testLeaseHeld(t *testing.T, h Harness) {
	c := newClock()
	s := h.Open(t, Settings{Now: c.now})
	l := acquire(t, s, "a")
	want := origin.Lease{Name: "materialize", Holder: "a", Token: l.Token, Expires: c.at.Add(time.Minute)}
	if !l.Expires.Equal(want.Expires) || l.Name != want.Name || l.Holder != want.Holder || l.Token == 0 {
		t.Errorf("Acquire = %+v, want %+v with a token", l, want)
	}
	c.advance(time.Minute - time.Millisecond)
	if _, err := s.Acquire(t.Context(), "materialize", "b", time.Minute); !errors.Is(err, origin.ErrLeaseHeld) || errors.Is(err, rules.ErrUnavailable) {
		t.Errorf("second holder: %v, want ErrLeaseHeld", err)
	}
}

func testLeaseSameHolder(t *testing.T, h Harness) {
	c := newClock()
	s := h.Open(t, Settings{Now: c.now})
	first := acquire(t, s, "a")
	c.advance(30 * time.Second)
	again := acquire(t, s, "a")
	if again.Token != first.Token || !again.Expires.Equal(c.at.Add(time.Minute)) {
		t.Errorf("taken again = %+v, want token %d and a minute from now", again, first.Token)
	}
	c.advance(50 * time.Second)
	renewed := must(s.Renew(t.Context(), again, time.Hour))(t)
	if renewed.Token != first.Token || !renewed.Expires.Equal(c.at.Add(time.Hour)) {
		t.Errorf("renewed = %+v, want token %d and an hour from now", renewed, first.Token)
	}
	c.advance(59 * time.Minute)
	if _, err := s.Acquire(t.Context(), "materialize", "b", time.Minute); !errors.Is(err, origin.ErrLeaseHeld) {
		t.Errorf("other holder: %v, want ErrLeaseHeld", err)
	}
}

func testLeaseTakeover(t *testing.T, h Harness) {
	c := newClock()
	s := h.Open(t, Settings{Now: c.now})
	lost := acquire(t, s, "a")
	c.advance(time.Minute)
	taken := acquire(t, s, "b")
	if taken.Token <= lost.Token {
		t.Errorf("token %d after %d, want it to grow", taken.Token, lost.Token)
	}
	if _, err := s.Renew(t.Context(), lost, time.Minute); !errors.Is(err, origin.ErrFenced) || errors.Is(err, rules.ErrUnavailable) {
		t.Errorf("Renew of a lost lease: %v, want ErrFenced", err)
	}
	ok(t, s.Release(t.Context(), lost))
	if _, err := s.Acquire(t.Context(), "materialize", "c", time.Minute); !errors.Is(err, origin.ErrLeaseHeld) {
		t.Errorf("releasing a lost lease freed it: %v", err)
	}
}

func testLeaseExpired(t *testing.T, h Harness) {
	c := newClock()
	s := h.Open(t, Settings{Now: c.now})
	l := acquire(t, s, "a")
	c.advance(time.Hour)
	if renewed := must(s.Renew(t.Context(), l, time.Minute))(t); renewed.Token != l.Token {
		t.Errorf("token %d, want %d", renewed.Token, l.Token)
	}
}

func testLeaseRelease(t *testing.T, h Harness) {
	s := h.Open(t, Settings{})
	first := acquire(t, s, "a")
	ok(t, s.Release(t.Context(), first))
	ok(t, s.Release(t.Context(), first))
	second := acquire(t, s, "b")
	if second.Token <= first.Token {
		t.Errorf("token %d after %d, want it to grow", second.Token, first.Token)
	}
	if _, err := s.Begin(t.Context(), view, first); !errors.Is(err, origin.ErrFenced) {
		t.Errorf("Begin under a released lease: %v, want ErrFenced", err)
	}
}

func testLeaseNames(t *testing.T, h Harness) {
	s := h.Open(t, Settings{})
	for _, name := range []string{"one", "two"} {
		must(s.Acquire(t.Context(), name, name, time.Minute))(t)
	}
}

func testLeaseRace(t *testing.T, h Harness) {
	s := h.Open(t, Settings{})
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { _, errs[i] = s.Acquire(t.Context(), "materialize", fmt.Sprint("holder", i), time.Minute) })
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		} else if !errors.Is(err, origin.ErrLeaseHeld) {
			t.Errorf("error = %v, want ErrLeaseHeld", err)
		}
	}
	if won != 1 {
		t.Errorf("%d holders, want 1", won)
	}
}

func testLeaseUnnamed(t *testing.T, h Harness) {
	s := h.Open(t, Settings{})
	if _, err := s.Acquire(t.Context(), "", "a", time.Minute); err == nil {
		t.Error("no name: no error")
	}
	if _, err := s.Acquire(t.Context(), "materialize", "", time.Minute); err == nil {
		t.Error("no holder: no error")
	}
}
