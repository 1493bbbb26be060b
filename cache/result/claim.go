package result

import (
	"context"
	"fmt"
	"sync"

	"vitrine/rules"
)

// errHeld reports that what other answers hold while they are made leaves too little memory. Unlike ErrInFlight, it
// does not mean that the answer could be streamed instead.
var errHeld = fmt.Errorf("result: %w: answers being made have used up their memory", rules.ErrUnavailable)

// Claim counts, as memory for making answers, what one answer holds while it is made: groups, or rows to be sorted.
// Work that waits for its turn keeps what it holds, so that the number of turns does not bound it. It is safe for
// concurrent use.
type Claim struct {
	budget *InFlight

	mu       sync.Mutex // guards the rest
	acquired int64      // bytes acquired from the budget
	used     int64      // bytes in use, no more than acquired
}

// claimStep is how many bytes a claim acquires at least, so that small ones rarely lock the budget.
const claimStep = 64 << 10

type claimKey struct{}

// Claim returns a context in which Hold counts memory, until release is called.
func (f *InFlight) Claim(ctx context.Context) (_ context.Context, release func()) {
	c := &Claim{budget: f}
	return context.WithValue(ctx, claimKey{}, c), func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		f.mu.Lock()
		defer f.mu.Unlock()
		f.making -= c.acquired
		c.acquired, c.used = 0, 0
	}
}

// Hold counts n more bytes that the work of a context holds. Without a claim in the context it counts nothing. The
// error is rules.ErrUnavailable if too little is free, and rules.ErrWrongCall if one answer must not hold so much.
func Hold(ctx context.Context, n int64) error {
	c, _ := ctx.Value(claimKey{}).(*Claim)
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if missing := c.used + n - c.acquired; missing > 0 {
		missing = max(missing, claimStep)
		if err := c.budget.hold(c.acquired, missing); err != nil {
			return err
		}
		c.acquired += missing
	}
	c.used += n
	return nil
}

// Held returns how many bytes the work of a context holds so far, by Hold.
func Held(ctx context.Context) int64 {
	c, _ := ctx.Value(claimKey{}).(*Claim)
	if c == nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.used
}

// hold acquires n bytes for a claim that has acquired some before.
func (f *InFlight) hold(before, n int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.third > 0 && before+n > f.third:
		const reason = "Making the answer takes more than the %d MB of memory that one may take. " +
			"A narrower filter may take less."
		return &rules.Error{Kind: rules.ErrWrongCall, Reason: fmt.Sprintf(reason, f.third>>20)}
	case f.third > 0 && f.making+n > f.third:
		return errHeld
	}
	f.making += n
	return nil
}
