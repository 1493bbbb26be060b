package result_test

import (
	"errors"
	"testing"

	"vitrine/cache/result"
	"vitrine/rules"
)

// TestHold: what answers hold while they are made counts towards the third of the budget for making, until it is
// released. One answer that needs more is refused for good; one that finds too little free may find it later.
func TestHold(t *testing.T) {
	const third = 10 << 20
	c, err := result.New(result.Options{InFlight: 3 * third})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	f := c.InFlight()
	if err := result.Hold(t.Context(), 100*third); err != nil || result.Held(t.Context()) != 0 {
		t.Errorf("without a claim: %v", err)
	}
	first, release := f.Claim(t.Context())
	for range 6 {
		if err := result.Hold(first, third/10); err != nil {
			t.Fatal(err)
		}
	}
	if got := result.Held(first); got != 6*(third/10) {
		t.Errorf("%d bytes held", got)
	}
	second, end := f.Claim(t.Context())
	defer end()
	err = result.Hold(second, third/2)
	if !errors.Is(err, rules.ErrUnavailable) || errors.Is(err, result.ErrInFlight) {
		t.Errorf("beside another answer: %v", err)
	}
	if err := result.Hold(first, third/2); !errors.Is(err, rules.ErrWrongCall) {
		t.Errorf("more than one answer may hold: %v", err)
	}
	release()
	release()
	if err := result.Hold(second, third/2); err != nil || result.Held(second) != third/2 {
		t.Errorf("after the other: %v, %d bytes held", err, result.Held(second))
	}
	made, err := f.AcquireToMake(third / 4)
	if err != nil {
		t.Fatal(err)
	}
	made()
	if _, err := f.AcquireToMake(third); !errors.Is(err, result.ErrInFlight) {
		t.Errorf("AcquireToMake beside what is held: %v", err)
	}
}
