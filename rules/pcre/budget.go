package pcre

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dlclark/regexp2/v2"
)

// ErrTimeout reports that a match used up its Budget. Callers turn it into an error that names the
// place of the expression.
var ErrTimeout = errors.New("the regular expression needs too much backtracking")

// Budget is the processor time for the backtracking expressions of one request, in total for all
// rows. It is safe for concurrent use. All workers that evaluate the request subtract from the same
// left.
type Budget struct {
	longest time.Duration // limit of one attempt at a match
	left    *atomic.Int64
	pause   func() error // may be nil
}

// DefaultBudget is the budget if no limit is set. It bounds a request, not an expression: ten
// expressions have it together.
const DefaultBudget = 200 * time.Millisecond

// NewBudget returns a budget of a duration of one processor.
func NewBudget(d time.Duration) *Budget {
	b := &Budget{longest: d / matchShare, left: new(atomic.Int64)}
	b.left.Store(int64(d))
	return b
}

// Pausing returns the same budget for matches that call pause between two attempts, if they take
// long. pause may block, and its error ends the match. Both share what is left. Callers let other
// requests run in pause.
func (b *Budget) Pausing(pause func() error) *Budget { return &Budget{b.longest, b.left, pause} }

// One attempt at a match may take at most one matchShare-th of a budget. A longer attempt would
// keep a processor busy for a match that most likely never ends.
const matchShare = 6

// firstAttempt is the time of the first attempt at a match. Nearly every match takes microseconds.
// Doubling from there repeats at most as much work as the last attempt takes.
const firstAttempt = 2 * time.Millisecond

// backtrack matches on the backtracking engine. The engine cannot be interrupted, but it gives up
// after a time limit. So backtrack repeats a long match with twice the time limit, and the budget's
// pause decides between two attempts whether to go on.
//
// The engine measures wall-clock time, so a suspended process would use up the budget with expressions that take
// microseconds. An attempt is therefore charged with at most twice its time limit.
func (re *Regexp) backtrack(s string, budget *Budget) (bool, error) {
	if budget == nil {
		budget = NewBudget(DefaultBudget)
	}
	for attempt := firstAttempt; attempt <= max(budget.longest, firstAttempt); attempt *= 2 {
		left := time.Duration(budget.left.Load())
		if left <= 0 {
			break
		}
		engine := *re.backing
		engine.MatchTimeout = min(attempt, left)
		began := time.Now()
		ok, err := engine.MatchString(s)
		budget.left.Add(-int64(min(time.Since(began), 2*engine.MatchTimeout)))
		switch {
		case err == nil:
			return ok, nil
		case !strings.HasPrefix(err.Error(), "match timeout"): // out of memory
			return false, ErrTimeout
		}
		if budget.pause != nil {
			if err := budget.pause(); err != nil {
				return false, err
			}
		}
	}
	// One match that never ends would otherwise be followed by the same match of the next row.
	budget.left.Store(0) // so that the other matches of the request end, too
	return false, ErrTimeout
}

// tick makes the engine's clock tick every millisecond. Its goroutine ends a second after the last match.
var tick = sync.OnceFunc(func() { regexp2.SetTimeoutCheckPeriod(time.Millisecond) })
