package view

import (
	"sync"
	"time"
	"weak"

	"vitrine/cache/origin"
	"vitrine/cache/view/index"

	"go.mongodb.org/mongo-driver/v2/bson"
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

// fileState describes a view's file: what was last read from it or written to it. The zero value says that there is
// none, so that the next write is due.
type fileState struct {
	meta      origin.Meta
	id        bson.ObjectID             // of the rows in it; zero in files of older versions
	table     weak.Pointer[index.Table] // the table with these rows
	confirmed time.Time                 // when the store had confirmed the snapshot in it
	tried     time.Time                 // when the file was last written, or writing failed
	took      time.Duration             // how long that took
	err       error                     // error of the last attempt to write it
	derived   derivedState
}

// derivedState describes the file of the values derived from the rows in a view's file.
type derivedState struct {
	// Sorted, as index.Table.DerivedNames returns them; nil if there is no file, or it belongs to other rows.
	names []string
	tried time.Time
	took  time.Duration
	err   error
}

// pollResult is what a poll has read for one view. With the zero value, the view reads the store itself.
type pollResult struct {
	number uint64 // of the refresh that uses it, assigned before the store was read
	began  time.Time
	read   bool // meta and err are set
	meta   origin.Meta
	err    error
	// all is the store's fingerprint of all views; "" if no view has rows in the store. allErr says why it is
	// unknown.
	all    string
	allErr error
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
		// A new snapshot may be newer than what any poll that has begun so far will return.
		if s.outdatedUpTo = p.number; swapped != nil {
			s.outdatedUpTo = s.begun
		}
		if err == nil {
			s.checked = time.Now()
		}
	})
	return before
}
