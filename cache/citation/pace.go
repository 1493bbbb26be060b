package citation

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// maxDoublings is how often a backoff doubles.
const maxDoublings = 6

// backoff returns how long to leave something alone after so many failures.
func backoff(first time.Duration, failures int) time.Duration {
	return first << min(failures-1, maxDoublings)
}

// errUnasked: the index was not asked, which says nothing about the question.
var errUnasked = errors.New("not asked")

// pace keeps requests apart, and away from an index that refuses them.
type pace struct {
	interval, backoff time.Duration
	now               func() time.Time
	wait              func(context.Context, time.Duration) error

	mu       sync.Mutex
	next     time.Time // guarded by mu: no request before
	refused  time.Time // guarded by mu: none before, the index having refused
	refusals int       // guarded by mu: in a row
}

// turn returns when a request may be sent. It fails with ErrBlocked while the index
// is left alone and with ErrUnavailable if the turn would come after the context's
// end, and both are errUnasked. Only what is known may come as late as that: made-up
// questions leave half of the time to it.
func (p *pace) turn(ctx context.Context, known bool) error {
	ahead, err := p.reserve(ctx, known)
	if err != nil || ahead <= 0 {
		return err
	}
	if err := p.wait(ctx, ahead); err != nil {
		return fmt.Errorf("%w: %w: %w", ErrUnavailable, errUnasked, err)
	}
	// One that went ahead may have been refused meanwhile.
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.allowedLocked(p.now())
}

// reserve takes the next turn and returns how far off it is.
func (p *pace) reserve(ctx context.Context, known bool) (time.Duration, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if err := p.allowedLocked(now); err != nil {
		return 0, err
	}
	ahead := max(p.next.Sub(now), 0)
	// The deadline is one of the real clock, hence the distance is compared.
	wanted := ahead
	if !known {
		wanted *= 2
	}
	if end, ok := ctx.Deadline(); ok && wanted >= time.Until(end) {
		return 0, fmt.Errorf("%w: %w: too many questions wait", ErrUnavailable, errUnasked)
	}
	p.next = now.Add(ahead + max(p.interval, 0))
	return ahead, nil
}

// allowedLocked fails while the index is left alone.
func (p *pace) allowedLocked(now time.Time) error {
	if now.Before(p.refused) {
		return &retryError{
			fmt.Errorf("%w: %w until %s", ErrBlocked, errUnasked, p.refused.UTC().Format(time.RFC3339)), p.refused.Sub(now),
		}
	}
	return nil
}

// saw learns from an answer whether the index refuses; after is how long it asked
// to be left alone.
func (p *pace) saw(refused bool, after time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !refused {
		p.refusals = 0
		return
	}
	p.refusals++
	p.refused = p.now().Add(max(backoff(p.backoff, p.refusals), after))
}

// wait is Options.Wait by timer.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
