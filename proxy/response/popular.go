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
	plan   Plan
	coding result.Coding
}

// sampleSize is how many of the queries last answered from memory are remembered,
// one in sampleShare of them: what is popularQuery for often is among them, and what no one
// asks for any more is soon written over.
const (
	sampleSize  = 64
	sampleShare = 16
)

// prepareTime bounds by how much preparing answers may delay a snapshot.
const prepareTime = 100 * time.Millisecond

// Popular keeps a sample of what was answered. It remembers what is popularQuery for again and again, so that it is answered from the
// next snapshot before that is shown. Its methods are safe for concurrent use.
type Popular struct {
	sample [sampleSize]atomic.Pointer[popularQuery]
}

// note may remember a query that was answered.
func (h *Popular) note(p *Plan, coding result.Coding) {
	if n := rand.Uint32(); n%sampleShare == 0 && !p.Once {
		h.sample[n/sampleShare%sampleSize].Store(&popularQuery{*p, coding})
	}
}

// of returns the queries remembered of a view by settings of a generation, each once.
func (h *Popular) of(view string, generation int) []popularQuery {
	type name struct {
		query  string
		coding result.Coding
	}
	seen := map[name]bool{}
	var all []popularQuery
	for i := range h.sample {
		a := h.sample[i].Load()
		if a == nil || a.plan.View != view || a.plan.generation != generation || seen[name{a.plan.Query, a.coding}] {
			continue
		}
		seen[name{a.plan.Query, a.coding}] = true
		all = append(all, *a)
	}
	return all
}

// Prepare answers what is popular from a snapshot that is about to be shown. An
// answer that fails, or that there is no time for, is left to whoever asks for it.
func (r *Responder) Prepare(refresh context.Context, next *view.Snapshot) (shown func()) {
	ctx, cancel := context.WithTimeout(refresh, prepareTime)
	defer cancel()
	var keep []func()
	for _, a := range r.options.Popular.of(next.Meta().View, r.options.Generation) {
		kept, err := r.results.Prepare(ctx, a.plan.key(next, a.coding), r.loader(&a.plan, next))
		if ctx.Err() != nil {
			break
		}
		if err == nil {
			keep = append(keep, kept)
		}
	}
	return func() {
		for _, kept := range keep {
			kept()
		}
		r.options.Warm(refresh, next)
	}
}
