package view

import (
	"context"
	"strings"

	"github.com/bits-and-blooms/bitset"

	"vitrine/rules/filter"
)

// evalElem narrows $elemMatch by the indexes of what one element must hold, and
// confirms the rows that are left: sets know that some element has each of the
// values, not that it is the same one.
func (s *Snapshot) evalElem(ctx context.Context, elem *filter.Elem, within *bitset.BitSet) (*bitset.BitSet, error) {
	candidates := within.Clone()
	for _, leaf := range necessary(elem) {
		part, err := s.evalLeaf(ctx, leaf)
		if err != nil {
			return nil, err
		}
		candidates.InPlaceIntersection(part)
		if candidates.None() {
			return candidates, nil
		}
	}
	return s.confirm(ctx, elem, candidates)
}

// necessary lists conditions on whole rows that every row matching the elem
// fulfils: each positive leaf of the elements' fields, seen along the whole path.
// Where a part of a path reads as a number the two traversals differ, and where a
// test is true of what is missing nothing follows for the row; such leaves are left out.
func necessary(elem *filter.Elem) (leaves []*filter.Leaf) {
	if elem.Node == nil || numeric(elem.Path) {
		return nil
	}
	conjuncts := []filter.Node{elem.Node}
	if and, ok := elem.Node.(*filter.AndNode); ok {
		conjuncts = and.Nodes
	}
	for _, n := range conjuncts {
		leaf, ok := n.(*filter.Leaf)
		if !ok || numeric(leaf.Path) {
			continue
		}
		if missing, err := leaf.Test.Match(filter.Value{Missing: true}); missing || err != nil {
			continue
		}
		path, err := filter.ParsePath(elem.Path.String() + "." + leaf.Path.String())
		if err != nil {
			continue // too long to index: the confirmation alone decides
		}
		leaves = append(leaves, &filter.Leaf{Path: path, Test: leaf.Test})
	}
	return leaves
}

// numeric reports whether a part of the path could be an array position.
func numeric(p filter.Path) bool {
	for _, part := range p.Parts() {
		if strings.Trim(part, "0123456789") == "" {
			return true
		}
	}
	return false
}
