package index

import (
	"context"
	"iter"
	"sync"

	"github.com/bits-and-blooms/bitset"

	"vitrine/rules/filter"
)

// worthRemembering is the least number of rows whose verdicts are kept.
const worthRemembering = 1024

// verdicts are the results of the reference matcher for a segment's rows and one condition. Rows never change, so the
// next table matches a popular $elemMatch only for its new rows.
type verdicts struct {
	mu          sync.Mutex // guards the sets of rows
	known, hits *bitset.BitSet
}

// Memory implements derived: two sets with a bit for each row.
func (v *verdicts) Memory() int64 { return int64(v.known.Len() / 4) }

// confirmElem is confirm, but matches each row only once for a condition.
func (e evaluation) confirmElem(ctx context.Context, elem *filter.Elem,
	within *bitset.BitSet) (*bitset.BitSet, error) {
	if within.Count() < worthRemembering {
		return e.confirm(ctx, elem, within)
	}
	set, open, all := bitset.New(uint(e.table.size)), within.Clone(), make([]*verdicts, len(e.table.segments))
	key := derivedKey{kind: kindVerdicts, path: filter.KeyOf(elem)}
	for i, seg := range e.table.segments {
		v := derive(seg, key, func() *verdicts {
			return &verdicts{known: bitset.New(uint(len(seg.rows))), hits: bitset.New(uint(len(seg.rows)))}
		})
		all[i] = v
		v.mu.Lock()
		if v.known.Any() {
			for slot, row := range e.table.of(i, within) {
				if v.known.Test(row) {
					open.Clear(slot)
					set.SetTo(slot, v.hits.Test(row))
				}
			}
		}
		v.mu.Unlock()
	}
	confirmed, err := e.confirm(ctx, elem, open)
	if err != nil {
		return nil, err
	}
	for i, v := range all {
		v.mu.Lock()
		// from slot 0 on, the sets' words need no shift
		if rows := uint(len(e.table.segments[i].rows)); e.table.bases[i] == 0 && rows > 0 {
			v.known.InPlaceUnion(open)
			v.known.Shrink(rows - 1)
			v.hits.InPlaceUnion(confirmed)
			v.hits.Shrink(rows - 1)
		} else {
			for slot, row := range e.table.of(i, open) {
				v.known.Set(row)
				v.hits.SetTo(row, confirmed.Test(slot))
			}
		}
		v.mu.Unlock()
	}
	set.InPlaceUnion(confirmed)
	return set, nil
}

// of yields the slots of a set that are in segment i, each with its row in the segment.
func (t *Table) of(i int, set *bitset.BitSet) iter.Seq2[uint, uint] {
	base := uint(t.bases[i])
	end := base + uint(len(t.segments[i].rows))
	return func(yield func(slot, row uint) bool) {
		for slot, ok := set.NextSet(base); ok && slot < end &&
			yield(slot, slot-base); slot, ok = set.NextSet(slot + 1) {
		}
	}
}
