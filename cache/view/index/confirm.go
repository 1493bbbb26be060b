package index

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"github.com/bits-and-blooms/bitset"

	"vitrine/cache/fair"
	"vitrine/rules/filter"
)

// worthKeeping is the least number of rows of a segment for which verdicts are kept.
const worthKeeping = 1024

// verdicts is what the reference matcher decided about a segment's rows and one
// condition. Rows never change, so it holds as long as the segment: a popular
// $elemMatch costs the next snapshot no more than the rows that changed.
type verdicts struct {
	mu          sync.Mutex // guards the sets
	asked, hits *bitset.BitSet
}

func newVerdicts(rows int) *verdicts {
	return &verdicts{asked: bitset.New(uint(rows)), hits: bitset.New(uint(rows))}
}

func (v *verdicts) memory() int64 { return int64(v.asked.Len() / 4) }

// read returns copies of the sets.
func (v *verdicts) read() (asked, hits *bitset.BitSet) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.asked.Clone(), v.hits.Clone()
}

// note adds the verdicts on more rows.
func (v *verdicts) note(rows []uint, hit []bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for i, row := range rows {
		v.asked.Set(row)
		v.hits.SetTo(row, hit[i])
	}
}

// confirm calls the reference matcher for every row of within.
func (s *Snapshot) confirm(ctx context.Context, n filter.Node, within *bitset.BitSet) (*bitset.BitSet, error) {
	set := bitset.New(uint(s.size))
	for i, seg := range s.segments {
		c := confirmation{node: n, seg: seg, base: uint(s.bases[i]), within: within}
		if err := c.into(ctx, set); err != nil {
			return nil, err
		}
	}
	return set, nil
}

// confirmation calls the matcher for the rows of one segment.
type confirmation struct {
	node   filter.Node
	seg    *segment
	base   uint // the segment's first slot
	within *bitset.BitSet
}

// into adds the rows that match to a set of slots.
func (c *confirmation) into(ctx context.Context, set *bitset.BitSet) error {
	rows := c.rows()
	var known *verdicts
	if len(rows) >= worthKeeping {
		known = derive(c.seg, derivedKey{kind: kindVerdicts, path: filter.KeyOf(c.node)}, func() *verdicts {
			return newVerdicts(len(c.seg.rows))
		})
		asked, hits := known.read()
		open := rows[:0]
		for _, row := range rows {
			if !asked.Test(row) {
				open = append(open, row)
			} else if hits.Test(row) {
				set.Set(c.base + row)
			}
		}
		rows = open
	}
	hit, err := c.match(ctx, rows)
	if err != nil {
		return err
	}
	for i, row := range rows {
		if hit[i] {
			set.Set(c.base + row)
		}
	}
	if known != nil {
		known.note(rows, hit)
	}
	return nil
}

// rows lists the segment's rows that are to be decided.
func (c *confirmation) rows() []uint {
	var rows []uint
	end := c.base + uint(len(c.seg.rows))
	for slot, ok := c.within.NextSet(c.base); ok && slot < end; slot, ok = c.within.NextSet(slot + 1) {
		rows = append(rows, slot-c.base)
	}
	return rows
}

// match calls the matcher.
func (c *confirmation) match(ctx context.Context, rows []uint) ([]bool, error) {
	hit := make([]bool, len(rows))
	var mu sync.Mutex // guards the error of the first row that fails
	var failed error
	failedAt := len(rows)
	err := fair.Share(ctx, len(rows), func(i int) (err error) {
		if hit[i], err = filter.Match(c.node, c.seg.rows[rows[i]]); err != nil {
			mu.Lock()
			defer mu.Unlock()
			if i < failedAt { // rows before it are matched to the end
				failed, failedAt = fmt.Errorf("match row: %w", err), i
			}
		}
		return err
	})
	return hit, cmp.Or(failed, err)
}
