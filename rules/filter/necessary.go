package filter

import "vitrine/rules/raw"
import "strings"

// Necessary lists conditions on whole rows that every row matching the elem
// fulfils: each positive leaf of the elements' fields, seen along the whole path.
// Where a part of a path reads as a number the two traversals differ, and where a
// test is true of what is missing nothing follows for the row; such leaves are left out.
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
