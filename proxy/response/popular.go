package response

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"vitrine/cache/result"
	"vitrine/cache/view"
	"vitrine/rules/lru"
)

// popularQuery is a query that was answered from memory.
type popularQuery struct {
	plan   *servedPlan
	coding result.Coding
}

// One in sampleShare of the queries answered from memory is remembered in one of sampleSize places: popular queries
// are likely to be among them, and others are soon overwritten. Of the queries with large answers the last largeSize
// are remembered: there are few, and compressing an answer takes seconds.
const (
	sampleSize  = 64
	sampleShare = 16
	largeSize   = 8
)

// prepareTime bounds how long preparing answers may delay a snapshot.
const prepareTime = 100 * time.Millisecond

// Popular keeps a sample of the answered queries, for the next snapshot. Its methods are safe for concurrent use.
type Popular struct {
	sample      [sampleSize]atomic.Pointer[popularQuery]
	compressing sync.Mutex // held while large answers are compressed, one at a time

	mu sync.Mutex // guards large
	// queries whose answers are kept only in compressed form; nil before the first
	large *lru.Cache[string, popularQuery]
}

// note may remember an answered query. It does not remember plans for one request alone (Once), and none with hidden
// fields (Whole). A sample costs a random number and, for one in sampleShare, a store: it
// takes no lock, because every kept answer calls it.
func (h *Popular) note(p *servedPlan, coding result.Coding, large bool) {
	switch n := rand.Uint32(); {
	case p.Once || p.Whole:
	case large:
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.large == nil {
			h.large = lru.New[string, popularQuery](largeSize)
		}
		h.large.Put(string(coding)+"\x00"+p.View+"\x00"+p.key, popularQuery{p, coding})
	case n%sampleShare == 0:
		h.sample[n/sampleShare%sampleSize].Store(&popularQuery{p, coding})
	}
}

// Prepare computes the answers to popular queries from a snapshot that is about to be shown, as far as time permits.
// shown stores them, and starts compressing large answers in the background.
func (r *Responder) Prepare(ctx context.Context, next *view.Snapshot) (shown func()) {
	ctx, cancel := context.WithTimeout(ctx, prepareTime)
	defer cancel()
	prepared := map[result.Key]func(){} // functions that store an answer; nil if computing it failed
	for i := range r.Popular.sample {
		req := r.ofNext(r.Popular.sample[i].Load(), next)
		if req == nil {
			continue
		}
		if _, done := prepared[req.key]; done {
			continue
		}
		// An error is no reason to hold back the snapshot: a request then makes the answer, and gets the error.
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
		r.Popular.mu.Lock()
		defer r.Popular.mu.Unlock()
		if r.Popular.large == nil {
			return
		}
		var large []*request
		for _, q := range r.Popular.large.All() {
			if req := r.ofNext(q, next); req != nil {
				large = append(large, req)
			}
		}
		if len(large) == 0 {
			return
		}
		go func() {
			r.Popular.compressing.Lock() // the answers of the previous snapshot end soon
			r.compress(context.Background(), large...)
		}()
	}
}

// after has the snapshots as they are once next is shown.
type after struct {
	Views
	next *view.Snapshot
}

// Snapshot implements Views.
func (a after) Snapshot(name string) (*view.Snapshot, error) {
	if a.next.Meta().View == name {
		return a.next, nil
	}
	return a.Views.Snapshot(name)
}

// ofNext returns the request for a query's answer once a snapshot is shown, or nil if that does not change the
// answer, or the plan does not hold for it. If another view changes before, the answer is never found: its key names
// both.
func (r *Responder) ofNext(q *popularQuery, next *view.Snapshot) *request {
	if q == nil || !q.plan.holds(r.Generation, r.Now()) {
		return nil
	}
	if name := next.Meta().View; q.plan.View != name && !slices.Contains(q.plan.Also, name) {
		return nil
	}
	s, err := q.plan.on(after{r.Views, next})
	if err != nil {
		return nil
	}
	return &request{Responder: r, plan: q.plan, snapshots: s, key: q.plan.keyOn(s, q.coding)}
}

// compress compresses large answers, one after the other. The caller has locked compressing.
func (r *Responder) compress(ctx context.Context, large ...*request) {
	defer r.Popular.compressing.Unlock()
	for _, req := range large {
		req.compress(ctx)
	}
}
