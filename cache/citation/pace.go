package citation

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"vitrine/rules"
)

const (
	// firstBackoff is how long the client waits before it repeats a failed query, and after a
	// refusal before any query.
	firstBackoff = time.Minute
	// maxDoublings is how often further failures double that.
	maxDoublings = 6
)

// backoff returns how long to wait after a number of failures in a row.
func backoff(failures int) time.Duration { return firstBackoff << min(failures-1, maxDoublings) }

// errUnasked: no request was sent, so the query itself has not failed.
var errUnasked = errors.New("not requested")

// pace limits the rate of requests, and pauses them when the index refuses them.
type pace struct {
	interval time.Duration
	now      func() time.Time
	wait     func(context.Context, time.Duration) error // wait, but in tests

	mu       sync.Mutex
	next     time.Time // guarded by mu: earliest next request
	refused  time.Time // guarded by mu: end of the pause after a refusal
	refusals int       // guarded by mu: in a row
}

// turn waits until a request may be sent. It fails with ErrBlocked during a pause, and
// with ErrUnavailable if the turn would come after the context's deadline; both wrap
// errUnasked. Queries for unknown users may wait only half as long: made-up users must
// not use up the turns of known ones.
func (p *pace) turn(ctx context.Context, known bool) error {
	ahead, err := p.reserve(ctx, known)
	if err != nil || ahead <= 0 {
		return err
	}
	if err := p.wait(ctx, ahead); err != nil {
		return fmt.Errorf("%w: %w: %w", ErrUnavailable, errUnasked, err)
	}
	// The index may have refused an earlier request while this one waited.
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.allowedLocked(p.now())
}

// reserve claims the next turn and returns the time until it.
func (p *pace) reserve(ctx context.Context, known bool) (time.Duration, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if err := p.allowedLocked(now); err != nil {
		return 0, err
	}
	ahead := max(p.next.Sub(now), 0)
	// The deadline is in real time, p.now may not be: hence durations are compared.
	wanted := ahead
	if !known {
		wanted *= 2
	}
	if end, ok := ctx.Deadline(); ok && wanted >= time.Until(end) {
		return 0, fmt.Errorf("%w: %w: too many queries waiting", ErrUnavailable, errUnasked)
	}
	p.next = now.Add(ahead + max(p.interval, 0))
	return ahead, nil
}

// allowedLocked fails during the pause after a refusal.
func (p *pace) allowedLocked(now time.Time) error {
	if now.Before(p.refused) {
		err := fmt.Errorf("%w: %w until %s", ErrBlocked, errUnasked, p.refused.UTC().Format(time.RFC3339))
		return &rules.RetryError{Err: err, After: p.refused.Sub(now)}
	}
	return nil
}

// observe records whether the index refused a request, and for how long it asked the
// client to wait.
func (p *pace) observe(refused bool, after time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !refused {
		p.refusals = 0
		return
	}
	p.refusals++
	p.refused = p.now().Add(max(backoff(p.refusals), after))
}

// wait returns after a while, or with the context's error if that ends first.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
