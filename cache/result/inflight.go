package result

import (
	"fmt"
	"sync"

	"vitrine/rules"
)

// ErrInFlight reports that answers in flight have used up their budget. It is of kind
// rules.ErrUnavailable.
var ErrInFlight = fmt.Errorf("result: %w: answers in flight have used up their budget", rules.ErrUnavailable)

// Uncounted is the size in bytes up to which an answer does not count as in flight: its
// connection buffers as much anyway.
const Uncounted = 32 << 10

// InFlight is the memory budget of answers in flight: being made, waiting to be
// compressed or being sent, whether the cache keeps them or not. A slow client holds its
// answer in memory, hence the budget: one third for making, one third for answers sent
// as a whole, and one third for answers sent in pieces, which need little each. Its
// methods are safe for concurrent use.
type InFlight struct {
	third int64 // of the budget in bytes; 0: no bound

	mu     sync.Mutex // guards the rest, and Answer.holders
	making int64      // claimed for making
	used   int64      // all others
}

func (f *InFlight) init(budget int64) {
	f.third = budget / 3
}

// Make claims n bytes to make an answer of about n/2 bytes, until done is called. It
// fails with ErrInFlight if too little is free, or if the answer could not be sent as a
// whole anyway. It does not wait: a waiting caller would hold the memory it has already
// claimed and a turn that the owners of the memory may need.
func (f *InFlight) Make(n int64) (done func(), err error) {
	if f.third <= 0 {
		return func() {}, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.used+n/2 > f.third || f.making > 0 && f.making+n > f.third {
		return nil, ErrInFlight
	}
	f.making += n
	return func() {
		f.mu.Lock()
		f.making -= n
		f.mu.Unlock()
	}, nil
}

// Take claims n bytes for an answer sent as a whole, until Give; false if too little is
// free.
func (f *InFlight) Take(n int64) bool { return f.take(n, f.third) }

// TakeLittle claims n bytes for an answer sent in pieces; false if too little is free.
func (f *InFlight) TakeLittle(n int64) bool { return f.take(n, 2*f.third) }

func (f *InFlight) take(n, most int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.takeLocked(n, most)
}

func (f *InFlight) takeLocked(n, most int64) bool {
	if f.third > 0 && f.used+n > most {
		return false
	}
	f.used += n
	return true
}

// Give returns claimed bytes.
func (f *InFlight) Give(n int64) { f.Add(-n) }

// Add claims bytes regardless of the budget, so that less is left for others.
func (f *InFlight) Add(n int64) {
	f.mu.Lock()
	f.used += n
	f.mu.Unlock()
}

// Hold claims the memory of an answer once for all its holders, until each has called
// Release; false if too little is free.
func (f *InFlight) Hold(a *Answer) bool {
	if len(a.Body) <= Uncounted {
		return true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if a.holders == 0 && !f.takeLocked(a.cost(), f.third) {
		return false
	}
	a.holders++
	return true
}

// Release ends a Hold.
func (f *InFlight) Release(a *Answer) {
	if len(a.Body) <= Uncounted {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if a.holders--; a.holders == 0 {
		f.used -= a.cost()
	}
}

// Bytes returns the claimed bytes without those of Make.
func (f *InFlight) Bytes() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.used
}

// Short reports whether too little is free for an answer of any size sent as a whole.
func (f *InFlight) Short() bool { return f.third > 0 && f.Bytes() > f.third }
