package filter

import (
	"errors"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/pcre"
	"vitrine/rules/raw"
)

// Regex is a regular expression in PCRE2 syntax, compiled once. As a test it holds
// for strings and symbols that it matches, and for regular expression values that
// are the same expression with the same options.
type Regex struct {
	*pcre.Regexp
	// Pattern is the expression as it was written.
	Pattern string

	timeout time.Duration // of a match that is bound to no budget
	late    *rules.Error  // the error when that takes too long
	binding *binding      // nil: none
}

// binding is what an expression is bound to; see Filter.Within.
type binding struct {
	budget *pcre.Budget
	pause  func() error // nil: there is no pause
}

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

// bound returns a bound copy, which shares what is compiled.
func (re *Regex) bound(to *binding) *Regex {
	copied := *re
	copied.binding = to
	return &copied
}

// Match implements Test.
func (re *Regex) Match(v raw.Value) (bool, error) {
	switch {
	case raw.IsText(v.Raw.Type):
		return re.MatchString(raw.Text(v.Raw))
	case v.Raw.Type == bson.TypeRegex:
		pattern, options := raw.RegexParts(v.Raw.Value)
		return string(pattern) == re.Pattern && string(options) == re.Options(), nil
	}
	return false, nil
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
