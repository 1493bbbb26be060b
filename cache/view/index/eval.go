package index

import (
	"context"

	"github.com/bits-and-blooms/bitset"

	"vitrine/cache/fair"
	"vitrine/rules/filter"
)

// eval returns the slots whose row matches the node, as set algebra. Only slots
// of within matter to the caller: others may be in the answer or not, whichever
// is cheaper. Sets returned are fresh and may be changed.
func (s *Snapshot) eval(ctx context.Context, n filter.Node, within *bitset.BitSet) (*bitset.BitSet, error) {
	if err := fair.TurnOf(ctx).Check(ctx); err != nil {
		return nil, err
	}
	switch n := n.(type) {
	case *filter.Leaf:
		return s.evalLeaf(ctx, n)
	case *filter.AndNode:
		return s.evalAll(ctx, n.Nodes, within)
	case *filter.OrNode:
		return s.evalAny(ctx, n.Nodes, within)
	case *filter.NotNode:
		return s.complement(s.eval(ctx, n.Node, within))
	case *filter.Elem:
		return s.evalElem(ctx, n, within)
	case *filter.ForeignNode:
		leaf, err := s.foreign.Leaf(ctx, s.def.Name, n)
		if err != nil {
			return nil, err
		}
		return s.evalLeaf(ctx, leaf)
	default:
		return s.confirm(ctx, n, within)
	}
}

// evalLeaf asks the path index of every segment.
func (s *Snapshot) evalLeaf(ctx context.Context, leaf *filter.Leaf) (*bitset.BitSet, error) {
	set := bitset.New(uint(s.size))
	for i, seg := range s.segments {
		index, err := seg.requestedIndex(ctx, leaf.Path)
		if err != nil {
			return nil, err
		}
		q := query{seg: seg, path: leaf.Path, index: index, base: s.bases[i], into: set}
		if err := q.lookup(ctx, leaf.Test); err != nil {
			return nil, err
		}
	}
	return set, nil
}

// evalAll intersects. The nodes stand in their order, cheap ones first: what has to be
// confirmed row by row then sees few rows, and an empty set ends the work.
func (s *Snapshot) evalAll(ctx context.Context, nodes []filter.Node, within *bitset.BitSet) (*bitset.BitSet, error) {
	set := within.Clone()
	for _, n := range nodes {
		part, err := s.eval(ctx, n, set)
		if err != nil {
			return nil, err
		}
		set.InPlaceIntersection(part)
		if set.None() {
			break
		}
	}
	return set, nil
}

// evalAny unites. What is found already is not asked again: an expression may fail on it.
func (s *Snapshot) evalAny(ctx context.Context, nodes []filter.Node, within *bitset.BitSet) (*bitset.BitSet, error) {
	set := bitset.New(uint(s.size))
	for _, n := range nodes {
		left := within
		if _, indexed := n.(*filter.Leaf); !indexed {
			left = within.Difference(set)
		}
		part, err := s.eval(ctx, n, left)
		if err != nil {
			return nil, err
		}
		set.InPlaceUnion(part)
	}
	return set, nil
}

func (s *Snapshot) complement(set *bitset.BitSet, err error) (*bitset.BitSet, error) {
	if err != nil {
		return nil, err
	}
	return set.Complement(), nil
}
