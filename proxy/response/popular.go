package response

import (
	"context"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"vitrine/cache/result"
	"vitrine/cache/view"
)

// popularQuery is a query that was answered from memory.
type popularQuery struct {
	plan   *planned
	coding result.Coding
}

// One in sampleShare of the queries answered from memory is remembered in one of sampleSize places:
// popular queries are among them, and others are soon overwritten. Queries with large answers are
// few; each is remembered in one of largeSize places, because compressing one answer takes seconds.
const (
	sampleSize  = 64
	sampleShare = 16
	largeSize   = 8
)

// prepareTime bounds the delay of a snapshot by preparing answers.
const prepareTime = 100 * time.Millisecond

// Popular keeps a sample of the queries answered, to answer them from the next snapshot
// before it is shown. Its methods are safe for concurrent use.
type Popular struct {
	sample      [sampleSize]atomic.Pointer[popularQuery]
	large       [largeSize]atomic.Pointer[popularQuery] // queries of which only compressed answers are kept
	compressing sync.Mutex                              // held while large answers are compressed, one at a time
}

// note may remember a query that was answered.
func (h *Popular) note(p *planned, coding result.Coding, large bool) {
	switch n := rand.Uint32(); {
	case p.Once || p.Whole:
	case large:
		h.large[n%largeSize].Store(&popularQuery{p, coding})
	case n%sampleShare == 0:
		h.sample[n/sampleShare%sampleSize].Store(&popularQuery{p, coding})
	}
}

// Prepare computes the answers to popular queries from a snapshot that is about to be shown, as far
// as there is time; shown has them kept. Large answers are compressed in the background when the
// snapshot is shown.
func (r *Responder) Prepare(ctx context.Context, next *view.Snapshot) (shown func()) {
	ctx, cancel := context.WithTimeout(ctx, prepareTime)
	defer cancel()
	prepared := map[result.Key]func(){} // what keeps an answer; nil: it failed
	for req := range r.popular(r.Popular.sample[:], next) {
		if _, done := prepared[req.key]; done {
			continue
		}
		keep, _ := r.Results.Prepare(ctx, req.key, req.loader(nil))
		if ctx.Err() != nil {
			break
		}
		prepared[req.key] = keep
	}
	return func() {
		for _, keep := range prepared {
			if keep != nil {
				keep()
			}
		}
		large := map[result.Key]*request{}
		for req := range r.popular(r.Popular.large[:], next) {
			large[req.key] = req
		}
		r.compressLater(context.Background(), slices.Collect(maps.Values(large))...)
	}
}

// popular yields the queries of a sample that are answered from a snapshot.
func (r *Responder) popular(sample []atomic.Pointer[popularQuery], s *view.Snapshot) iter.Seq[*request] {
	return func(yield func(*request) bool) {
		for i := range sample {
			q := sample[i].Load()
			if q == nil || q.plan.View != s.Meta().View || q.plan.generation != r.Generation {
				continue
			}
			key, err := q.plan.resultKey(r.Views, s, q.coding)
			if err == nil && !yield(&request{Responder: r, plan: q.plan, snapshot: s, key: key}) {
				return
			}
		}
	}
}

// compressLater compresses large answers in the background, unless others are being compressed.
func (r *Responder) compressLater(ctx context.Context, large ...*request) {
	if len(large) == 0 || !r.Popular.compressing.TryLock() {
		return
	}
	go func() {
		defer r.Popular.compressing.Unlock()
		for _, req := range large {
			req.compress(ctx)
		}
	}()
}
