package response

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"vitrine/cache/result"
	"vitrine/cache/view"
)

// popularQuery is a query that was answered from memory.
type popularQuery struct {
	plan   *Plan
	coding result.Coding
}

// sampleSize is how many of the queries last answered from memory are remembered,
// one in sampleShare of them: popular ones are among them, and others are soon written
// over.
const (
	sampleSize  = 64
	sampleShare = 16
)

// prepareTime bounds by how much preparing answers may delay a snapshot.
const prepareTime = 100 * time.Millisecond

// Popular keeps a sample of the queries answered, to answer them from the next snapshot
// before it is shown. Its methods are safe for concurrent use.
type Popular struct {
	sample [sampleSize]atomic.Pointer[popularQuery]
}

// note may remember a query that was answered.
func (h *Popular) note(p *Plan, coding result.Coding) {
	if n := rand.Uint32(); n%sampleShare == 0 && !p.Once && !p.Whole {
		h.sample[n/sampleShare%sampleSize].Store(&popularQuery{p, coding})
	}
}

// Prepare answers what is popular from a snapshot that is about to be shown. An answer
// that fails, or that there is no time for, is left to the first caller that asks for it.
func (r *Responder) Prepare(refresh context.Context, next *view.Snapshot) (shown func()) {
	ctx, cancel := context.WithTimeout(refresh, prepareTime)
	defer cancel()
	prepared := map[result.Key]func(){} // what keeps an answer; nil: it failed
	for i := range r.Popular.sample {
		q := r.Popular.sample[i].Load()
		if q == nil || q.plan.View != next.Meta().View || q.plan.generation != r.Generation {
			continue
		}
		key, err := q.plan.key(r.Views, next, q.coding)
		if _, done := prepared[key]; done || err != nil {
			continue
		}
		keep, _ := r.Results.Prepare(ctx, key, r.loader(q.plan, next))
		if ctx.Err() != nil {
			break
		}
		prepared[key] = keep
	}
	return func() {
		for _, keep := range prepared {
			if keep != nil {
				keep()
			}
		}
		r.Warm(refresh, next)
	}
}
