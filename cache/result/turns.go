package result

import (
	"context"
	"errors"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
)

// errCrowded: more wait than can be served in a while; to wait as well would only
// make everybody wait longer.
var errCrowded = errors.New("too many answers are waited for")

// turns bound how much is computed at a time, so that what is in memory is answered at
// once however much else is asked for.
type turns struct {
	free    *semaphore.Weighted
	waiting atomic.Int64
	most    int64
}

func newTurns(parallel, waiting int) *turns {
	return &turns{free: semaphore.NewWeighted(int64(parallel)), most: int64(waiting)}
}

// take waits for a turn, to be given back.
func (t *turns) take(ctx context.Context) error {
	if t.free.TryAcquire(1) {
		return nil
	}
	defer t.waiting.Add(-1)
	if t.waiting.Add(1) > t.most {
		return errCrowded
	}
	return t.free.Acquire(ctx, 1)
}

func (t *turns) give() { t.free.Release(1) }
