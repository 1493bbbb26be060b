package result_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"vitrine/cache/result"
	"vitrine/rules"
)

// TestInFlight: claims stay within the budget, an answer counts once however many responses send
// it, and every claim is released.
func TestInFlight(t *testing.T) {
	const third = 1 << 20
	f := open(t, result.Options{InFlight: 3 * third}).InFlight()
	large := result.NewAnswer(bytes.Repeat([]byte("x"), third/2), "text/plain")
	other := result.NewAnswer(bytes.Repeat([]byte("y"), third/2), "text/plain")
	small := result.NewAnswer([]byte("x"), "text/plain")
	again := func() bool { return f.Retain(large) }
	if !f.Retain(large) || !again() || f.Retain(other) || !f.Retain(small) {
		t.Errorf("want Retain to accept the first large answer, any number of times, but not a second one; %d bytes",
			f.Bytes())
	}
	if f.TryAcquire(third) || !f.TryAcquirePiece(third) || f.TryAcquirePiece(third) {
		t.Errorf("want only one claim of a piece to get the second third; %d bytes", f.Bytes())
	}
	if _, err := f.AcquireToMake(third); !errors.Is(err, result.ErrInFlight) ||
		!errors.Is(err, rules.ErrUnavailable) {
		t.Errorf("AcquireToMake for an answer that could not be sent: %v", err)
	}
	f.Release(third)
	large.Release()
	large.Release()
	small.Release()
	if f.Bytes() != 0 {
		t.Errorf("%d bytes are still claimed", f.Bytes())
	}
	done, err := f.AcquireToMake(10 * third)
	if err == nil {
		t.Error("AcquireToMake accepts more than the budget")
		done()
	}
	if done, err = f.AcquireToMake(2 * third); err != nil {
		t.Fatal(err)
	}
	if _, err := f.AcquireToMake(third / 2); !errors.Is(err, result.ErrInFlight) {
		t.Errorf("AcquireToMake beside a claim of the whole rest: %v", err)
	}
	done()
	if done, err = f.AcquireToMake(third / 2); err != nil {
		t.Fatal(err)
	}
	done()
}

// TestKeptInFlight: a large kept answer that is being sent counts only once the cache has dropped it.
func TestKeptInFlight(t *testing.T) {
	const third = 2 << 20
	c := open(t, result.Options{Budget: 1 << 20, LargeBudget: 2 * third, InFlight: 3 * third})
	f := c.InFlight()
	get := func(generation uint64) *result.Answer {
		t.Helper()
		a, _, err := c.Get(t.Context(), result.Key{Query: "q", Generation: generation},
			func(context.Context) (*result.Answer, error) {
				return result.NewAnswer(bytes.Repeat([]byte("x"), third+1), "text/plain"), nil
			})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	first := get(1)
	for range 2 {
		if !f.Retain(first) || f.Bytes() != 0 {
			t.Errorf("%d bytes in flight while the answer is kept", f.Bytes())
		}
	}
	second := get(2)
	if f.Bytes() <= third || !f.Retain(first) || f.Retain(second) {
		t.Errorf(
			"%d bytes in flight after another answer took the place; want no answer but those in flight to be held",
			f.Bytes())
	}
	for range 3 {
		first.Release()
	}
	if f.Bytes() != 0 || !f.Retain(second) {
		t.Errorf("%d bytes in flight in the end", f.Bytes())
	}
	second.Release()
	get(3)
	if f.Bytes() != 0 {
		t.Errorf("%d bytes in flight without a holder", f.Bytes())
	}
}

// TestCodedWaitsWithinBudget: the budget counts a plain answer that waits for compression.
func TestCodedWaitsWithinBudget(t *testing.T) {
	c := open(t, result.Options{InFlight: 3 << 20})
	load := func(context.Context) (*result.Answer, error) {
		return result.NewAnswer([]byte(strings.Repeat("x", 600<<10)), "text/plain"), nil
	}
	if !c.InFlight().TryAcquire(1 << 19) {
		t.Fatal("a claim failed")
	}
	if _, _, err := c.Get(t.Context(), result.Key{Query: "q", Coding: result.Gzip}, load); !errors.Is(err,
		result.ErrInFlight) {
		t.Errorf("error %v, want %v", err, result.ErrInFlight)
	}
	c.InFlight().Release(1 << 19)
	if a, _, err := c.Get(t.Context(), result.Key{Query: "q", Coding: result.Gzip}, load); err != nil ||
		a.Coding != result.Gzip {
		t.Errorf("%v, %v", a, err)
	}
	if c.InFlight().Bytes() != 0 {
		t.Errorf("%d bytes are still claimed", c.InFlight().Bytes())
	}
}
