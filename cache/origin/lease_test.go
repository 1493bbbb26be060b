package origin_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"vitrine/cache/origin"
	"vitrine/rules"
)

var leaseTests = map[string]func(*testing.T, harness){
	"one holder at a time":                        testLeaseHeld,
	"the same holder renews":                      testLeaseSameHolder,
	"a lease that is not renewed is taken over":   testLeaseTakeover,
	"a lease that has run out holds until taken":  testLeaseExpired,
	"a fast clock does not take a live lease":     testLeaseFastClock,
	"a lease written by a fast clock passes on":   testLeaseOfFastClock,
	"a lease has the term that its holder wanted": testLeaseTerm,
	"a released lease is free":                    testLeaseRelease,
	"the store names the holder":                  testLeaseHolder,
	"names are independent":                       testLeaseNames,
	"one of many concurrent attempts succeeds":    testLeaseRace,
	"name and holder are required":                testLeaseUnnamed,
}

func testLeaseHeld(t *testing.T, h harness) {
	c := newClock()
	s := h.open(t, c.settings())
	l := acquire(t, s, "a")
	want := origin.Lease{Name: "materialize", Holder: "a", Token: l.Token, Expires: c.at.Add(time.Minute)}
	if !l.Expires.Equal(want.Expires) || l.Name != want.Name || l.Holder != want.Holder || l.Token == 0 {
		t.Errorf("Acquire = %+v, want %+v with a token", l, want)
	}
	isHeld(t, s, "b")
	c.advance(time.Minute - time.Millisecond)
	isHeld(t, s, "b")
}

// isHeld fails the test unless a holder is refused the lease.
func isHeld(t *testing.T, s origin.Store, holder string) {
	t.Helper()
	if _, err := s.Acquire(t.Context(), "materialize", holder, time.Minute); !errors.Is(err, origin.ErrLeaseHeld) ||
		errors.Is(err, rules.ErrUnavailable) {
		t.Errorf("Acquire for %s: %v, want ErrLeaseHeld", holder, err)
	}
}

// takeOver takes the lease of another holder that has not renewed it for a whole term.
func takeOver(t *testing.T, s origin.Store, c *clock, holder string) origin.Lease {
	t.Helper()
	isHeld(t, s, holder)
	c.advance(time.Minute)
	return acquire(t, s, holder)
}

func testLeaseHolder(t *testing.T, h harness) {
	s := h.open(t, settings{})
	holds := func(want string) {
		t.Helper()
		if got := must(s.Holder(t.Context(), "materialize"))(t); got != want {
			t.Errorf("Holder = %q, want %q", got, want)
		}
	}
	holds("")
	l := acquire(t, s, "a")
	holds("a")
	if err := s.Release(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	holds("")
}

func testLeaseSameHolder(t *testing.T, h harness) {
	c := newClock()
	s := h.open(t, c.settings())
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
}

func testLeaseTakeover(t *testing.T, h harness) {
	c := newClock()
	s := h.open(t, c.settings())
	lost := acquire(t, s, "a")
	isHeld(t, s, "b")
	c.advance(40 * time.Second)
	lost = must(s.Renew(t.Context(), lost, time.Minute))(t)
	c.advance(40 * time.Second)
	taken := takeOver(t, s, c, "b") // a minute after it saw the renewal
	if taken.Token <= lost.Token {
		t.Errorf("token %d after %d, want it to grow", taken.Token, lost.Token)
	}
	if _, err := s.Renew(t.Context(), lost, time.Minute); !errors.Is(err, origin.ErrFenced) ||
		errors.Is(err, rules.ErrUnavailable) {
		t.Errorf("Renew of a lost lease: %v, want ErrFenced", err)
	}
	ok(t, s.Release(t.Context(), lost))
	isHeld(t, s, "c") // a holder that lost its lease cannot release it
}

func testLeaseExpired(t *testing.T, h harness) {
	c := newClock()
	s := h.open(t, c.settings())
	l := acquire(t, s, "a")
	c.advance(time.Hour)
	if renewed := must(s.Renew(t.Context(), l, time.Minute))(t); renewed.Token != l.Token {
		t.Errorf("token %d, want %d", renewed.Token, l.Token)
	}
}

func testLeaseFastClock(t *testing.T, h harness) {
	c := newClock()
	s := h.open(t, c.settings())
	l := acquire(t, s, "a")
	for range 20 {
		isHeld(t, s, "b")
		c.step(time.Hour)
		isHeld(t, s, "b")
		c.advance(20 * time.Second)
		c.step(-time.Hour)
		l = must(s.Renew(t.Context(), l, time.Minute))(t)
	}
}

func testLeaseOfFastClock(t *testing.T, h harness) {
	c := newClock()
	s := h.open(t, c.settings())
	c.step(time.Hour)
	acquire(t, s, "a")
	c.step(-time.Hour)
	takeOver(t, s, c, "b")
}

func testLeaseTerm(t *testing.T, h harness) {
	c := newClock()
	s := h.open(t, c.settings())
	must(s.Acquire(t.Context(), "materialize", "a", time.Hour))(t)
	isHeld(t, s, "b")
	c.advance(time.Hour - time.Second)
	isHeld(t, s, "b")
	c.advance(time.Second)
	acquire(t, s, "b")
}

func testLeaseRelease(t *testing.T, h harness) {
	s := h.open(t, settings{})
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

func testLeaseNames(t *testing.T, h harness) {
	s := h.open(t, settings{})
	for _, name := range []string{"one", "two"} {
		must(s.Acquire(t.Context(), name, name, time.Minute))(t)
	}
}

func testLeaseRace(t *testing.T, h harness) {
	s := h.open(t, settings{})
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

func testLeaseUnnamed(t *testing.T, h harness) {
	s := h.open(t, settings{})
	if _, err := s.Acquire(t.Context(), "", "a", time.Minute); err == nil {
		t.Error("no name: no error")
	}
	if _, err := s.Acquire(t.Context(), "materialize", "", time.Minute); err == nil {
		t.Error("no holder: no error")
	}
}
