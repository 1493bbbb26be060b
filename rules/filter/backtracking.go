package filter

import (
	"errors"
	"slices"

	"vitrine/rules/pcre"
)

// Within returns the filter with its backtracking expressions bound to a budget.
// Matching fails as Match says when the budget is used up. pause is called between
// two attempts at a match that takes long; it may block, and its error ends the match.
// A filter without such expressions is returned as it is.
func (f *Filter) Within(b *pcre.Budget, pause func() error) *Filter {
	if !f.backtracks {
		return f
	}
	within := *f
	within.root = bound(f.root, &binding{b, pause})
	return &within
}

// binding is what an expression is bound to.
type binding struct {
	budget *pcre.Budget
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

// MatchString reports whether the expression matches somewhere in s. The error is a
// *rules.Error if the backtracking engine ran out of time or memory, or that of a pause
// (see Filter.Within).
func (re *Regex) MatchString(s string) (bool, error) {
	if !re.Backtracks() {
		return re.Regexp.MatchString(s, nil, nil)
	}
	to := re.binding
	if to == nil {
		to = &binding{budget: pcre.NewBudget(re.timeout)}
	}
	ok, err := re.Regexp.MatchString(s, to.budget, to.pause)
	if errors.Is(err, pcre.ErrTimeout) {
		return false, re.late
	}
	return ok, err
}
