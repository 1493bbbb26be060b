package index

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"github.com/bits-and-blooms/bitset"

	"vitrine/cache/fair"
	"vitrine/rules/filter"
	"vitrine/rules/pcre"
)

// evaluation is one filter's evaluation over the rows of a table. It is a value that lives for one call of eval.
type evaluation struct {
	table        *Table
	backtracking *pcre.Budget // shared by all expressions of the filter; nil if none backtracks
}

// eval returns the slots of within whose row matches a filter. The error is the context's, or rules.ErrWrongCall for
// an expression that ran out of time.
//
// The result is within's own slots only: node may return more, because complements and unions of whole indexes are
// cheaper than intersections at each step.
func (t *Table) eval(ctx context.Context, f *filter.Filter, within *bitset.BitSet) (*bitset.BitSet, error) {
	var backtracking *pcre.Budget
	if f.Backtracks() {
		backtracking = fair.Backtracking(ctx)
	}
	rows, err := evaluation{t, backtracking}.node(ctx, f.Root(), within)
	if err == nil {
		rows.InPlaceIntersection(within)
	}
	return rows, err
}

// node returns the slots whose row matches the node. The caller needs only slots of within; the result may include
// others or not, whichever is cheaper. The returned set is a copy that may be changed.
func (e evaluation) node(ctx context.Context, n filter.Node, within *bitset.BitSet) (*bitset.BitSet, error) {
	if err := fair.TurnOf(ctx).Check(ctx); err != nil {
		return nil, err
	}
	switch n := n.(type) {
	case *filter.Leaf:
		return e.leaf(ctx, n)
	case *filter.AndNode:
		return e.all(ctx, n.Nodes, within)
	case *filter.OrNode:
		return e.any(ctx, n.Nodes, within)
	case *filter.NotNode:
		set, err := e.node(ctx, n.Node, within)
		if err != nil {
			return nil, err
		}
		return set.Complement(), nil
	case *filter.Elem:
		return e.elem(ctx, n, within)
	default:
		return e.confirm(ctx, n, within)
	}
}

// leaf queries the path index of every segment. A leaf ignores within: a look-up takes about as long for few rows
// as for all.
func (e evaluation) leaf(ctx context.Context, leaf *filter.Leaf) (*bitset.BitSet, error) {
	set := bitset.New(uint(e.table.size))
	for i, seg := range e.table.segments {
		index, err := seg.requestedIndex(ctx, leaf.Path)
		if err != nil {
			return nil, err
		}
		q := query{
			seg: seg, path: leaf.Path, index: index, base: e.table.bases[i], into: set,
			backtracking: e.backtracking,
		}
		if err := q.lookup(ctx, leaf.Test); err != nil {
			return nil, err
		}
	}
	return set, nil
}

// all intersects the sets of the nodes, cheap ones first, so that confirming sees few rows. An empty set ends the
// work.
func (e evaluation) all(ctx context.Context, nodes []filter.Node, within *bitset.BitSet) (*bitset.BitSet, error) {
	set := within.Clone()
	for _, n := range nodes {
		part, err := e.node(ctx, n, set)
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

// any unites the sets of the nodes. It does not test rows again that it has found: an expression may fail on them.
func (e evaluation) any(ctx context.Context, nodes []filter.Node, within *bitset.BitSet) (*bitset.BitSet, error) {
	set := bitset.New(uint(e.table.size))
	for _, n := range nodes {
		left := within
		if _, indexed := n.(*filter.Leaf); !indexed {
			left = within.Difference(set)
		}
		part, err := e.node(ctx, n, left)
		if err != nil {
			return nil, err
		}
		set.InPlaceUnion(part)
	}
	return set, nil
}

// elem narrows $elemMatch by the indexes of the values that one element must have, and confirms the remaining rows:
// the sets only say that some element has each of the values, not that the same element has all.
//
// With {a: {$elemMatch: {x: 1, y: 2}}}, the row {a: [{x: 1}, {y: 2}]} is in both sets and does not match.
func (e evaluation) elem(ctx context.Context, elem *filter.Elem, within *bitset.BitSet) (*bitset.BitSet, error) {
	candidates, err := e.all(ctx, filter.Necessary(elem), within)
	if err != nil {
		return nil, err
	}
	return e.confirmElem(ctx, elem, candidates)
}

// confirm calls the reference matcher for every row of within. Its error is that of the first row that fails.
//
// Rows are matched on several processors. Which error is returned must not depend on their timing, hence that of
// the first row: the same request then gets the same answer each time.
func (e evaluation) confirm(ctx context.Context, n filter.Node, within *bitset.BitSet) (*bitset.BitSet, error) {
	slots := within.AsSlice(make([]uint, within.Count()))
	hit := make([]bool, len(slots))
	var mu sync.Mutex // guards the error of the first row that fails
	var failed error
	failedAt := len(slots)
	err := inSteps(ctx, len(slots), checkEvery, func(i int) (err error) {
		if hit[i], err = filter.Match(n, e.table.Doc(Slot(slots[i])), e.backtracking); err != nil {
			mu.Lock()
			defer mu.Unlock()
			if i < failedAt { // still match the rows before the failed one
				failed, failedAt = fmt.Errorf("match row: %w", err), i
			}
		}
		return err
	})
	if err := cmp.Or(failed, err); err != nil {
		return nil, err
	}
	set := bitset.New(uint(e.table.size))
	for i, slot := range slots {
		set.SetTo(slot, hit[i])
	}
	return set, nil
}
