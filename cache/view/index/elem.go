package index

import (
	"context"

	"github.com/bits-and-blooms/bitset"

	"vitrine/rules/filter"
)

// evalElem narrows $elemMatch by the indexes of what one element must hold, and
// confirms the rows that are left: sets know that some element has each of the
// values, not that it is the same one.
func (s *Snapshot) evalElem(ctx context.Context, elem *filter.Elem, within *bitset.BitSet) (*bitset.BitSet, error) {
	candidates := within.Clone()
	for _, leaf := range filter.Necessary(elem) {
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
