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

// TestInFlight: what is claimed stays within the budget, answers count once however many
// send them, and everything is given back.
func TestInFlight(t *testing.T) {
	const third = 1 << 20
	f := open(t, result.Options{InFlight: 3 * third}).InFlight()
	large := result.NewAnswer(bytes.Repeat([]byte("x"), third/2), "text/plain")
	other := result.NewAnswer(bytes.Repeat([]byte("y"), third/2), "text/plain")
	small := result.NewAnswer([]byte("x"), "text/plain")
	again := func() bool { return f.Hold(large) }
	if !f.Hold(large) || !again() || f.Hold(other) || !f.Hold(small) {
		t.Errorf("of two answers that fill a third one is held, however often; %d bytes", f.Bytes())
	}
	if f.TryAcquire(third) || !f.TryAcquirePiece(third) || f.TryAcquirePiece(third) {
		t.Errorf("the second third is for little claims; %d bytes", f.Bytes())
	}
	if _, err := f.AcquireToMake(third); !errors.Is(err, result.ErrInFlight) || !errors.Is(err, rules.ErrUnavailable) {
		t.Errorf("an answer that could not be sent is made: %v", err)
	}
	f.Release(third)
	large.Drop()
	large.Drop()
	small.Drop()
	if f.Bytes() != 0 {
		t.Errorf("%d bytes are left", f.Bytes())
	}
	done, err := f.AcquireToMake(10 * third)
	if err == nil {
		t.Error("more is made than could be sent")
		done()
	}
	if done, err = f.AcquireToMake(2 * third); err != nil {
		t.Fatal(err)
	}
	if _, err := f.AcquireToMake(third / 2); !errors.Is(err, result.ErrInFlight) {
		t.Errorf("made beside one that takes all: %v", err)
	}
	done()
	if done, err = f.AcquireToMake(third / 2); err != nil {
		t.Fatal(err)
	}
	done()
}

// TestCodedWaitsWithinBudget: a plain answer that waits to be compressed is counted.
func TestCodedWaitsWithinBudget(t *testing.T) {
	c := open(t, result.Options{InFlight: 3 << 20})
	load := func(context.Context) (*result.Answer, error) {
		return result.NewAnswer([]byte(strings.Repeat("x", 600<<10)), "text/plain"), nil
	}
	if !c.InFlight().TryAcquire(1 << 19) {
		t.Fatal("nothing can be claimed")
	}
	if _, _, err := c.Get(t.Context(), result.Key{Query: "q", Coding: result.Gzip}, load); !errors.Is(err, result.ErrInFlight) {
		t.Errorf("error %v, want %v", err, result.ErrInFlight)
	}
	c.InFlight().Release(1 << 19)
	if a, _, err := c.Get(t.Context(), result.Key{Query: "q", Coding: result.Gzip}, load); err != nil || a.Coding != result.Gzip {
		t.Errorf("%v, %v", a, err)
	}
	if c.InFlight().Bytes() != 0 {
		t.Errorf("%d bytes are left", c.InFlight().Bytes())
	}
}
