package filter

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// Node is one condition of a filter on a document: *AndNode, *OrNode, *NorNode,
// *NotNode, *Leaf, *Elem, *ExprNode or *ForeignNode. Nodes are read-only.
type Node interface {
	// Match reports whether a document satisfies the node. The error says why it
	// could not decide, as when a regular expression ran out of time.
	Match(doc bson.Raw) (bool, error)
	// matchElement applies a node of a value-form $elemMatch to one array element.
	matchElement(v raw.Value) (bool, error)
	// appendKey appends the node's canonical text.
	appendKey(dst []byte) []byte
}

// AndNode holds if all its nodes do; without nodes it matches everything. Like the other
// lists of nodes it is in the order of evaluation, which ends at the node that decides.
type AndNode struct{ Nodes []Node }

// OrNode holds if one of its nodes does; without nodes it matches nothing.
type OrNode struct{ Nodes []Node }

// NorNode holds if none of its nodes does.
type NorNode struct{ Nodes []Node }

// NotNode holds if its node does not. It negates the whole traversal: {a: {$ne: 1}}
// holds only if no value at a equals 1.
type NotNode struct{ Node Node }

// Leaf holds if one of the values that raw.Walk yields for Path passes Test.
type Leaf struct {
	Path raw.Path
	Test Test
}

// Elem is $elemMatch: it holds if an array at Path, looked at whole, has one
// element that satisfies everything. Exactly one of the two forms is set.
type Elem struct {
	Path raw.Path
	// Node is the object form, {$elemMatch: {field: …}}: applied to elements that are
	// documents (or arrays, taken as documents with the fields "0", "1", …).
	Node Node
	// Value is the value form, {$elemMatch: {$gt: …}}: a tree of nodes with empty
	// paths, applied to each element itself, without stepping into nested arrays.
	Value Node
}

// Match implements Node.
func (n *AndNode) Match(doc bson.Raw) (bool, error) {
	return all(n.Nodes, func(c Node) (bool, error) { return c.Match(doc) })
}

func (n *AndNode) matchElement(v raw.Value) (bool, error) {
	return all(n.Nodes, func(c Node) (bool, error) { return c.matchElement(v) })
}

// Match implements Node.
func (n *OrNode) Match(doc bson.Raw) (bool, error) {
	return some(n.Nodes, func(c Node) (bool, error) { return c.Match(doc) })
}

func (n *OrNode) matchElement(v raw.Value) (bool, error) {
	return some(n.Nodes, func(c Node) (bool, error) { return c.matchElement(v) })
}

// Match implements Node.
func (n *NorNode) Match(doc bson.Raw) (bool, error) {
	return not(some(n.Nodes, func(c Node) (bool, error) { return c.Match(doc) }))
}

func (n *NorNode) matchElement(v raw.Value) (bool, error) {
	return not(some(n.Nodes, func(c Node) (bool, error) { return c.matchElement(v) }))
}

// Match implements Node.
func (n *NotNode) Match(doc bson.Raw) (bool, error) { return not(n.Node.Match(doc)) }

func (n *NotNode) matchElement(v raw.Value) (bool, error) { return not(n.Node.matchElement(v)) }

// Match implements Node.
func (n *Leaf) Match(doc bson.Raw) (ok bool, err error) {
	raw.Walk(doc, n.Path, func(v raw.Value) bool {
		ok, err = n.Test.Match(v)
		return !ok && err == nil
	})
	return ok, err
}

func (n *Leaf) matchElement(v raw.Value) (bool, error) { return n.Test.Match(v) }

// Match implements Node.
func (n *Elem) Match(doc bson.Raw) (ok bool, err error) {
	raw.WalkWhole(doc, n.Path, func(v raw.Value) bool {
		ok, err = n.matchElement(v)
		return !ok && err == nil
	})
	return ok, err
}

// matchElement looks for the element in one array.
func (n *Elem) matchElement(v raw.Value) (bool, error) {
	if v.Raw.Type != bson.TypeArray {
		return false, nil
	}
	r := raw.Read(v.Raw.Value)
	for e, ok := r.Next(); ok; e, ok = r.Next() {
		if found, err := n.matchOne(e); found || err != nil {
			return found, err
		}
	}
	return false, nil
}

func (n *Elem) matchOne(e raw.Element) (bool, error) {
	if n.Value != nil {
		return n.Value.matchElement(raw.Value{Raw: e.Value()})
	}
	if e.Type != bson.TypeEmbeddedDocument && e.Type != bson.TypeArray {
		return false, nil
	}
	return n.Node.Match(bson.Raw(e.Data))
}

// all reports whether match holds for every node, stopping at the first that fails.
func all(nodes []Node, match func(Node) (bool, error)) (bool, error) {
	for _, n := range nodes {
		if ok, err := match(n); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// some reports whether match holds for a node, stopping at the first that does.
func some(nodes []Node, match func(Node) (bool, error)) (bool, error) {
	for _, n := range nodes {
		if ok, err := match(n); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

func not(ok bool, err error) (bool, error) { return !ok && err == nil, err }

// and joins nodes, taking nested conjunctions apart.
func and(nodes []Node) Node {
	flat := make([]Node, 0, len(nodes))
	for _, n := range nodes {
		if inner, ok := n.(*AndNode); ok {
			flat = append(flat, inner.Nodes...)
		} else {
			flat = append(flat, n)
		}
	}
	if len(flat) == 1 {
		return flat[0]
	}
	return &AndNode{Nodes: cheapFirst(flat)}
}

// or joins alternatives, taking nested ones apart.
func or(nodes []Node) Node {
	flat := make([]Node, 0, len(nodes))
	for _, n := range nodes {
		if inner, ok := n.(*OrNode); ok {
			flat = append(flat, inner.Nodes...)
		} else {
			flat = append(flat, n)
		}
	}
	if len(flat) == 1 {
		return flat[0]
	}
	return &OrNode{Nodes: cheapFirst(flat)}
}

// cheapFirst sorts independent conditions: what an index answers, combinations of it,
// what each document must be matched with. An evaluation in this order that stops at the
// condition that decides a document meets the same errors.
func cheapFirst(nodes []Node) []Node {
	slices.SortStableFunc(nodes, func(a, b Node) int { return cost(a) - cost(b) })
	return nodes
}

func cost(n Node) int {
	switch n := n.(type) {
	case *Leaf:
		return 0
	case *AndNode:
		return 1 + maxCost(n.Nodes)
	case *OrNode:
		return 1 + maxCost(n.Nodes)
	case *NorNode:
		return 1 + maxCost(n.Nodes)
	case *NotNode:
		return cost(n.Node)
	case *ExprNode:
		return 1000
	}
	return 100
}

func maxCost(nodes []Node) (most int) {
	for _, n := range nodes {
		most = max(most, cost(n))
	}
	return most
}

// Necessary lists conditions on whole rows that every row matching the elem
// fulfils: each positive leaf of the elements' fields, along the whole path. It omits
// leaves with a number in their path, where the two traversals differ, and leaves whose
// test holds for a missing value, which say nothing about the row.
func Necessary(elem *Elem) (leaves []*Leaf) {
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
		if missing, err := leaf.Test.Match(raw.Value{Missing: true}); missing || err != nil {
			continue
		}
		path, err := raw.ParsePath(elem.Path.String() + "." + leaf.Path.String())
		if err != nil {
			continue // too long to index: the confirmation alone decides
		}
		leaves = append(leaves, &Leaf{Path: path, Test: leaf.Test})
	}
	return leaves
}

// numeric reports whether a part of the path could be an array position.
func numeric(p raw.Path) bool {
	for _, part := range p.Parts() {
		if strings.Trim(part, "0123456789") == "" {
			return true
		}
	}
	return false
}
