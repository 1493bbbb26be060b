package result

import (
	"fmt"
	"sync"

	"vitrine/rules"
)

// ErrInFlight reports, as a rules.ErrUnavailable, that answers in flight have used up their budget.
var ErrInFlight = fmt.Errorf("result: %w: answers in flight have used up their budget", rules.ErrUnavailable)

// Uncounted is the size up to which an answer does not count as in flight: its connection takes as much memory
// anyway.
const Uncounted = 32 << 10

// InFlight is the memory budget of answers in flight: being made, waiting to be compressed or being sent, whether or
// not the cache keeps them, except large ones (see Retain), because a slow client holds its answer in memory. One
// third is for making, one for answers sent as a whole, and one for answers sent in pieces. No method waits for
// memory: a waiting caller would hold memory and a turn that others may need. The methods are safe for concurrent
// use.
type InFlight struct {
	third int64 // a third of the budget in bytes; 0 means no bound

	mu     sync.Mutex // guards the rest, and fields of Answer: holders, kept, counted, and inFlight until it is set
	making int64      // bytes acquired for making
	used   int64      // all other acquired bytes
	bodies int64      // those of used for bodies of requests
}

// AcquireToMake acquires n bytes to make an answer of about n/2 bytes, until release is called. It fails with
// ErrInFlight if too little is free, also for sending the answer as a whole.
func (f *InFlight) AcquireToMake(n int64) (release func(), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.third > 0 && (f.used+n/2 > f.third || f.making > 0 && f.making+n > f.third) {
		return nil, ErrInFlight
	}
	f.making += n
	return func() {
		f.mu.Lock()
		f.making -= n
		f.mu.Unlock()
	}, nil
}

// TryAcquire acquires n bytes for an answer sent as a whole, until Release. It returns false if too little is free.
func (f *InFlight) TryAcquire(n int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.acquireLocked(n, f.third)
}

// TryAcquirePiece acquires n bytes for an answer sent in pieces, until Release. It returns false if too little is
// free.
func (f *InFlight) TryAcquirePiece(n int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.acquireLocked(n, 2*f.third)
}

// acquireLocked acquires n bytes unless more than most would then be used.
func (f *InFlight) acquireLocked(n, most int64) bool {
	free := f.third <= 0 || f.used+n <= most
	if free {
		f.used += n
	}
	return free
}

// TryAcquireBody acquires n bytes for the body of a request, until ReleaseBody. Bodies have half of what whole
// answers have: clients who send bodies slowly leave the rest to answers. It returns false if too little is free.
func (f *InFlight) TryAcquireBody(n int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.third > 0 && f.bodies+n > f.third/2 || !f.acquireLocked(n, f.third) {
		return false
	}
	f.bodies += n
	return true
}

// ReleaseBody ends a TryAcquireBody.
func (f *InFlight) ReleaseBody(n int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.used -= n
	f.bodies -= n
}

// Release returns acquired bytes.
func (f *InFlight) Release(n int64) { f.Acquire(-n) }

// Acquire acquires bytes even beyond the budget, so that less is left for others.
func (f *InFlight) Acquire(n int64) {
	f.mu.Lock()
	f.used += n
	f.mu.Unlock()
}

// Retain acquires the memory of an answer, once for all its holders, until each of them has called Release. It
// returns false if too little is free. A large kept answer takes none until the cache drops it, which may exceed the
// budget once.
func (f *InFlight) Retain(a *Answer) bool {
	if len(a.Body) <= Uncounted {
		return true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case a.counted:
	case a.kept:
		if !f.acquireLocked(0, f.third) {
			return false
		}
	case !f.acquireLocked(a.cost(), f.third):
		return false
	default:
		a.counted = true
	}
	if a.inFlight == nil {
		a.inFlight = f
	}
	a.holders++
	return true
}

// Release ends a Retain.
func (a *Answer) Release() {
	if len(a.Body) <= Uncounted {
		return
	}
	f := a.inFlight
	f.mu.Lock()
	defer f.mu.Unlock()
	if a.holders--; a.holders == 0 && a.counted {
		a.counted = false
		f.used -= a.cost()
	}
}

// setKept records whether the cache's budget for large answers has an answer.
func (f *InFlight) setKept(a *Answer, kept bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a.kept = kept
	switch counted := !kept && a.holders > 0; {
	case counted && !a.counted:
		f.used += a.cost()
		a.counted = true
	case !counted && a.counted:
		f.used -= a.cost()
		a.counted = false
	}
}

// Bytes returns the acquired bytes, except those of AcquireToMake.
func (f *InFlight) Bytes() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.used
}

// Largest returns the size in bytes of the largest body that can be sent as a whole; 0 if there is no bound.
func (f *InFlight) Largest() int { return int(max(f.third-overhead, 0)) }

// Short reports whether too little is free for any answer sent as a whole.
func (f *InFlight) Short() bool { return f.third > 0 && f.Bytes() > f.third }
