package view

import (
	"sync"
	"time"

	"vitrine/cache/origin"
)

// state is the state of a view, apart from its snapshot.
type state struct {
	// Refreshes are numbered in the order in which they begin to read the store.
	begun        uint64      // refreshes that have begun, those of polls with the poll
	ended        uint64      // the highest number of a refresh that has ended; the first one is 1
	outdatedUpTo uint64      // polls up to this number may be older than what is shown
	newest       origin.Meta // the newest meta that the store returned
	checked      time.Time   // when a refresh last succeeded
	err          error       // error of the last refresh
	accepted     *HeldError  // what Force accepts; nil if there is none
	file         fileState
}

// progress guards the state of a view. The goroutines that refresh the view, poll, write its file and wait for a
// snapshot share it.
type progress struct {
	mu    sync.Mutex // guards state
	state state
}

// update changes the state, and returns a copy of it as it is afterwards.
func (r *progress) update(change func(*state)) state {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.state)
	return r.state
}

// known returns a copy of the state.
func (r *progress) known() state { return r.update(func(*state) {}) }

// begin numbers a refresh that reads the store itself.
func (r *progress) begin(p pollResult) pollResult {
	if !p.read {
		p.number = r.update(func(s *state) { s.begun++ }).begun
	}
	return p
}

// outdated reports whether the result of a poll is too old: a refresh that began later has ended, or the view has
// shown another snapshot since the poll began. With the older meta it would seem that the store had gone back to an
// earlier generation.
func (r *progress) outdated(p pollResult) bool { return p.number <= r.known().outdatedUpTo }

// end records the outcome of a refresh, and returns the error of the one before.
func (r *progress) end(p pollResult, swapped *Snapshot, err error) (before error) {
	r.update(func(s *state) {
		before, s.err, s.ended = s.err, err, max(s.ended, p.number)
		if s.outdatedUpTo = p.number; swapped != nil { // which may be newer than what a poll has read meanwhile
			s.outdatedUpTo = s.begun
		}
		if err == nil {
			s.checked = time.Now()
		}
	})
	return before
}
