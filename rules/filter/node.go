package filter

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/pcre"
	"vitrine/rules/raw"
)

// Node is one condition of a filter on a document: *AndNode, *OrNode, *NotNode, *Leaf, *Elem,
// *ExprNode or *ForeignNode. Nodes are read-only. The set is closed: the methods are not exported,
// and evaluators switch on the types.
type Node interface {
	// match reports whether a document satisfies the node or, inside a value-form $elemMatch, whether an element of
	// any type does. The error says why it could not decide, for example because a regular expression ran out of
	// time.
	match(v bson.RawValue, b *pcre.Budget) (bool, error)
	// appendKey appends the node's canonical text.
	appendKey(dst []byte) []byte
}

// Match reports whether a document satisfies a node, within the budget for backtracking. For errors
// see Filter.Match. Without a budget (nil) each match of an expression has pcre.DefaultBudget for
// itself, so callers that look at many rows must pass one.
func Match(n Node, doc bson.Raw, b *pcre.Budget) (bool, error) {
	return n.match(bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: doc}, b)
}

// AndNode holds if all its nodes hold; without nodes it matches everything. Its nodes, like those of an OrNode, are
// in the order of evaluation, which stops at the node that decides.
type AndNode struct{ Nodes []Node }

// OrNode holds if one of its nodes holds; without nodes it matches nothing.
type OrNode struct{ Nodes []Node }

// NotNode holds if its node does not hold. It negates the whole traversal: {a: {$ne: 1}} holds only
// if no value at a equals 1. A NotNode around an OrNode is $nor.
type NotNode struct{ Node Node }

// Leaf holds if one of the values that raw.Walk yields for Path passes Test.
type Leaf struct {
	Path raw.Path // the zero Path inside a value-form $elemMatch means the element itself
	Test Test
}

// Elem is $elemMatch: it holds if the array at Path, taken as a whole, has one element that
// satisfies all conditions. Exactly one of the two forms is set.
type Elem struct {
	Path raw.Path // the zero Path inside a value-form $elemMatch, as for a Leaf
	// Node is the object form, {$elemMatch: {field: …}}. It is applied to elements that are documents (or arrays,
	// treated as documents with the fields "0", "1", …).
	Node Node
	// Value is the value form, {$elemMatch: {$gt: …}}: a tree of nodes with empty paths, applied to each element
	// itself, without opening nested arrays.
	Value Node
}

func (n *AndNode) match(v bson.RawValue, b *pcre.Budget) (bool, error) {
	for _, c := range n.Nodes {
		if ok, err := c.match(v, b); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (n *OrNode) match(v bson.RawValue, b *pcre.Budget) (bool, error) {
	for _, c := range n.Nodes {
		if ok, err := c.match(v, b); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

func (n *NotNode) match(v bson.RawValue, b *pcre.Budget) (bool, error) {
	ok, err := n.Node.match(v, b)
	return !ok && err == nil, err
}

func (n *Leaf) match(v bson.RawValue, b *pcre.Budget) (ok bool, err error) {
	if n.Path.Len() == 0 {
		return n.Test.Match(raw.Value{Raw: v}, b)
	}
	// Without an array there is exactly one value, so the walk and its closure are not needed.
	if n.Path.Len() == 1 { // mostly a field of an array's elements
		if e, _ := raw.Lookup(v.Value, n.Path.Name(0)); e.Type != bson.TypeArray {
			return n.Test.Match(raw.Value{Raw: e.Value(), Missing: e.Type == 0}, b)
		}
	}
	raw.Walk(v.Value, n.Path, func(v raw.Value) bool {
		ok, err = n.Test.Match(v, b)
		return !ok && err == nil
	})
	return ok, err
}

// match offers whole arrays to matchArray; which elements count is decided there.
func (n *Elem) match(v bson.RawValue, b *pcre.Budget) (ok bool, err error) {
	if n.Path.Len() == 0 {
		return n.matchArray(v, b)
	}
	raw.WalkWhole(v.Value, n.Path, func(v raw.Value) bool {
		ok, err = n.matchArray(v.Raw, b)
		return !ok && err == nil
	})
	return ok, err
}

// matchArray looks for the element in one value. A value that is not an array has none.
func (n *Elem) matchArray(array bson.RawValue, b *pcre.Budget) (bool, error) {
	if array.Type != bson.TypeArray {
		return false, nil
	}
	for e := range raw.All(array.Value) {
		node := n.Value
		if n.Node != nil {
			if node = n.Node; e.Type != bson.TypeEmbeddedDocument && e.Type != bson.TypeArray {
				continue
			}
		}
		if found, err := node.match(e.Value(), b); found || err != nil {
			return found, err
		}
	}
	return false, nil
}

// Parts returns the nodes that a logical node combines, or nil for other nodes. The caller must not
// change them.
func Parts(n Node) []Node {
	switch n := n.(type) {
	case *AndNode:
		return n.Nodes
	case *OrNode:
		return n.Nodes
	case *NotNode:
		return []Node{n.Node}
	}
	return nil
}

// and joins nodes by $and. {$and: [a, {$and: [b, c]}]} becomes one node with three.
func and(nodes []Node) Node {
	return join[*AndNode](nodes, func(flat []Node) Node { return &AndNode{flat} })
}

// or joins nodes by $or in the same way.
func or(nodes []Node) Node {
	return join[*OrNode](nodes, func(flat []Node) Node { return &OrNode{flat} })
}

// join joins nodes by one of type T. It drops nil nodes, replaces nodes of type T by their children, and returns a
// single node unchanged.
func join[T Node](nodes []Node, by func(flat []Node) Node) Node {
	flat := make([]Node, 0, len(nodes))
	for _, n := range nodes {
		if _, ok := n.(T); ok {
			flat = append(flat, Parts(n)...)
		} else if n != nil {
			flat = append(flat, n)
		}
	}
	if len(flat) == 1 {
		return flat[0]
	}
	return by(cheapFirst(flat))
}

// cheapFirst sorts independent conditions: first those that an index answers, then their
// combinations, then those that are matched with each document. All evaluators use this order and
// stop at the condition that decides a document, so they meet the same errors. The sort is stable,
// so callers can still order equal conditions by their own knowledge.
func cheapFirst(nodes []Node) []Node {
	slices.SortStableFunc(nodes, func(a, b Node) int { return cost(a) - cost(b) })
	return nodes
}

// cost estimates a condition: 0 if an index answers it, 1000 or more for expressions, which may
// fail. Other nodes, such as $elemMatch, cost 100: an index narrows them and a match confirms.
func cost(n Node) (most int) {
	for _, c := range Parts(n) {
		most = max(most, cost(c))
	}
	switch n.(type) {
	case *Leaf:
		return 0
	case *AndNode, *OrNode:
		return 1 + most
	case *NotNode:
		return most
	case *ExprNode:
		return 1000
	}
	return 100
}

// Necessary lists conditions on whole rows that every row that matches the elem satisfies: each
// positive leaf on the elements' fields, with the whole path. It omits leaves with a number in
// their path, for which the two traversals differ, and leaves whose test holds for a missing value,
// which say nothing about the row.
//
//	{authors: {$elemMatch: {user: "a", year: {$gt: 1}}}} → authors.user = "a", authors.year > 1
func Necessary(elem *Elem) (leaves []Node) {
	if elem.Node == nil || numeric(elem.Path) {
		return nil
	}
	conjuncts := []Node{elem.Node}
	if and, ok := elem.Node.(*AndNode); ok {
		conjuncts = and.Nodes
	}
	for _, n := range conjuncts {
		leaf, ok := n.(*Leaf)
		if !ok || numeric(leaf.Path) {
			continue
		}
		if missing, err := leaf.Test.Match(raw.Value{Missing: true}, nil); missing || err != nil {
			continue
		}
		path, err := raw.ParsePath(elem.Path.String() + "." + leaf.Path.String())
		if err != nil {
			continue // the path is too long to index: only the confirmation decides
		}
		leaves = append(leaves, &Leaf{path, leaf.Test})
	}
	return leaves
}

// numeric reports whether a part of the path is empty or could be an array position.
func numeric(p raw.Path) bool {
	return slices.ContainsFunc(p.Parts(), func(part string) bool { return strings.Trim(part, "0123456789") == "" })
}
