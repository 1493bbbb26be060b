package filter

import (
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

// bound returns a copy of a node whose expressions are bound; nil for nil.
func bound(n Node, to *binding) Node {
	switch n := n.(type) {
	case *AndNode:
		return &AndNode{Nodes: allBound(n.Nodes, to)}
	case *OrNode:
		return &OrNode{Nodes: allBound(n.Nodes, to)}
	case *NotNode:
		return &NotNode{Node: bound(n.Node, to)}
	case *Leaf:
		return &Leaf{Path: n.Path, Test: boundTest(n.Test, to)}
	case *Elem:
		return &Elem{Path: n.Path, Node: bound(n.Node, to), Value: bound(n.Value, to)}
	case *ExprNode:
		return &ExprNode{root: n.root, key: n.key, binding: to}
	}
	return n
}

// allBound binds a copy of a list.
func allBound(nodes []Node, to *binding) []Node {
	nodes = slices.Clone(nodes)
	for i, n := range nodes {
		nodes[i] = bound(n, to)
	}
	return nodes
}

// boundTest binds a test; most have no expression and are shared.
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
