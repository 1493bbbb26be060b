package result

import (
	"fmt"
	"sync"

	"vitrine/rules"
)

// ErrInFlight is the error where answers in flight have used up their budget. It is of
// kind rules.ErrUnavailable.
var ErrInFlight = fmt.Errorf("result: %w: answers in flight have used up their budget", rules.ErrUnavailable)

// Uncounted is the size in bytes up to which an answer is not counted as in flight: as
// much is buffered for its connection anyway.
const Uncounted = 32 << 10

// InFlight is the memory of answers in flight: those being made, waiting to be
// compressed and being sent, whether they are kept or not. What readers do not take is
// in memory for as long as they are there, so it has a budget: a third for making, a
// third for answers that are sent as a whole, and the rest for those sent in pieces,
// which get on with little. Its methods are safe for concurrent use.
type InFlight struct {
	third int64 // of the budget in bytes; 0: no bound

	mu     sync.Mutex // guards the rest, and Answer.holders
	making int64      // claimed for making
	used   int64      // all others
}

func (f *InFlight) init(budget int64) {
	f.third = budget / 3
}

// Make claims so many bytes to make an answer, which is half of them in the end, until
// done is called. The error is ErrInFlight where others have them, or where the answer
// could not be sent as a whole anyway. It does not wait: who waits holds what is made
// already, and a turn that those who have the memory may need.
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

// Take claims so many bytes, to be given back; false if there is too little for whole
// answers.
func (f *InFlight) Take(n int64) bool { return f.take(n, f.third) }

// TakeLittle claims what an answer cannot do without; false if there is too little.
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

// Give returns bytes that were claimed.
func (f *InFlight) Give(n int64) { f.Add(-n) }

// Add counts bytes that are held whatever the budget says, so that less is left for
// others.
func (f *InFlight) Add(n int64) {
	f.mu.Lock()
	f.used += n
	f.mu.Unlock()
}

// Hold is Take for an answer, once for all who hold it, until each has called Release.
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

// Bytes returns how much is claimed, but for making.
func (f *InFlight) Bytes() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.used
}

// Short reports whether there is too little for whole answers of any size.
func (f *InFlight) Short() bool { return f.third > 0 && f.Bytes() > f.third }
