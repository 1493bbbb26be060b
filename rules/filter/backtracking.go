package filter

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dlclark/regexp2/v2"
)

// Budget is the processor time that the backtracking expressions of one request may
// take together, however many rows and expressions there are. It is safe for
// concurrent use.
type Budget struct {
	longest time.Duration // attempt at one match
	left    atomic.Int64
}

// defaultBacktracking is what a request has where no limit is set.
const defaultBacktracking = 200 * time.Millisecond

// NewBudget returns a budget of a duration of one processor; 200 ms if 0.
func NewBudget(d time.Duration) *Budget {
	d = cmp.Or(d, defaultBacktracking)
	b := &Budget{longest: d / matchShare}
	b.left.Store(int64(d))
	return b
}

// Within returns the filter with its backtracking expressions bound to a budget.
// Matching fails as Match says when the budget is used up. pause is called between
// two attempts at a match that takes long; it may block, and its error ends the match.
// A filter without such expressions is returned as it is.
func (f *Filter) Within(b *Budget, pause func() error) *Filter {
	if !f.backtracks {
		return f
	}
	within := *f
	within.root = bound(f.root, &binding{b, pause})
	return &within
}

// binding is what an expression is bound to.
type binding struct {
	budget *Budget
	pause  func() error // nil: there is no pause
}

// bound returns a copy of a node whose expressions are bound.
func bound(n Node, to *binding) Node {
	switch n := n.(type) {
	case *AndNode:
		return &AndNode{Nodes: allBound(n.Nodes, to)}
	case *OrNode:
		return &OrNode{Nodes: allBound(n.Nodes, to)}
	case *NorNode:
		return &NorNode{Nodes: allBound(n.Nodes, to)}
	case *NotNode:
		return &NotNode{Node: bound(n.Node, to)}
	case *Leaf:
		return &Leaf{Path: n.Path, Test: boundTest(n.Test, to)}
	case *Elem:
		elem := &Elem{Path: n.Path}
		if n.Node != nil {
			elem.Node = bound(n.Node, to)
		}
		if n.Value != nil {
			elem.Value = bound(n.Value, to)
		}
		return elem
	case *ExprNode:
		return &ExprNode{root: n.root, key: n.key, binding: to}
	}
	return n
}

func allBound(nodes []Node, to *binding) []Node {
	nodes = slices.Clone(nodes)
	for i, n := range nodes {
		nodes[i] = bound(n, to)
	}
	return nodes
}

func boundTest(t Test, to *binding) Test {
	switch t := t.(type) {
	case *Regex:
		return t.bound(to)
	case *In:
		in := &In{Values: t.Values, Regexes: slices.Clone(t.Regexes)}
		for i, re := range in.Regexes {
			in.Regexes[i] = re.bound(to)
		}
		return in
	}
	return t
}

func (re *Regex) bound(to *binding) *Regex {
	copied := *re
	copied.binding = to
	return &copied
}

// matchShare is what part of a budget the longest attempt at one match may take. Longer
// ones would keep a processor from others, for a match that most likely never ends.
const matchShare = 6

// firstAttempt is how long the first attempt at a match may take. Nearly every match
// takes microseconds.
const firstAttempt = 2 * time.Millisecond

// backtrack matches on the backtracking engine. The engine cannot be interrupted, but
// it gives up after a time. So a match that takes long is attempted again and again,
// with twice the time, and whether anybody still waits for it is seen between.
//
// The engine's time is that of the wall, so that a process which had to stand still
// would use up the budget with expressions that take microseconds: an attempt is
// charged with twice its time at most, and what is left pays for the next.
func (re *Regex) backtrack(s string) (bool, error) {
	to := re.binding
	if to == nil {
		to = &binding{budget: NewBudget(re.timeout)}
	}
	for attempt := firstAttempt; attempt <= max(to.budget.longest, firstAttempt); attempt *= 2 {
		left := time.Duration(to.budget.left.Load())
		if left <= 0 {
			break
		}
		engine := *re.backing
		engine.MatchTimeout = min(attempt, left)
		began := time.Now()
		ok, err := engine.MatchString(s)
		to.budget.left.Add(-int64(min(time.Since(began), 2*engine.MatchTimeout)))
		switch {
		case err == nil:
			return ok, nil
		case !strings.HasPrefix(err.Error(), "match timeout"): // out of memory
			return false, re.late
		}
		if to.pause != nil {
			if err := to.pause(); err != nil {
				return false, err
			}
		}
	}
	to.budget.left.Store(0) // what else the request matches at the same time may end, too
	return false, re.late
}

// tick has the engine's clock tick every millisecond instead of every hundred. It is a
// goroutine of the engine's, which ends about a second after the last match.
var tick = sync.OnceFunc(func() { regexp2.SetTimeoutCheckPeriod(time.Millisecond) })
