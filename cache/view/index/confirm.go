package index

import (
	"cmp"
	"fmt"
	"sync"

	"github.com/bits-and-blooms/bitset"

	"vitrine/cache/fair"
	"vitrine/rules/filter"
)

// elem narrows $elemMatch by the indexes of what one element must hold, and
// confirms the rows that are left: sets know that some element has each of the
// values, not that it is the same one.
func (s evaluation) elem(elem *filter.Elem, within *bitset.BitSet) (*bitset.BitSet, error) {
	candidates := within.Clone()
	for _, leaf := range filter.Necessary(elem) {
		part, err := s.leaf(leaf)
		if err != nil {
			return nil, err
		}
		candidates.InPlaceIntersection(part)
		if candidates.None() {
			return candidates, nil
		}
	}
	return s.confirm(elem, candidates)
}

// confirm calls the reference matcher for every row of within. Of several rows that it
// fails on, the error is that of the first.
func (s evaluation) confirm(n filter.Node, within *bitset.BitSet) (*bitset.BitSet, error) {
	slots := within.AsSlice(make([]uint, within.Count()))
	hit := make([]bool, len(slots))
	var mu sync.Mutex // guards the error of the first row that fails
	var failed error
	failedAt := len(slots)
	err := fair.Share(s.ctx, len(slots), func(i int) (err error) {
		if hit[i], err = filter.Match(n, s.Doc(Slot(slots[i])), s.bounds); err != nil {
			mu.Lock()
			defer mu.Unlock()
			if i < failedAt { // rows before it are matched to the end
				failed, failedAt = fmt.Errorf("match row: %w", err), i
			}
		}
		return err
	})
	if err := cmp.Or(failed, err); err != nil {
		return nil, err
	}
	set := bitset.New(uint(s.size))
	for i, slot := range slots {
		set.SetTo(slot, hit[i])
	}
	return set, nil
}
