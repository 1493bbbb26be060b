package index

import (
	"context"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/rules/raw"
)

// SortAlone is the most selected rows that are sorted for one request only: that takes about a millisecond. While
// the rows are read, it holds SortBytes for each. For more, all rows of a segment are sorted once, and every request
// reads that order, however long its client takes.
const SortAlone, SortBytes = 1024, 4

// permutation has the rows of a segment in an order.
type permutation []uint32

// Memory implements derived.
func (p permutation) Memory() int64 { return 4*int64(len(p)) + 128 }

// inOrder yields the selected rows in the range [from, to) of the order of By, in the context's turn.
func (s *Subset) inOrder(ctx context.Context, from, to int, yield func(Slot) bool) error {
	if s.count > SortAlone {
		return s.merged(ctx, from, to, yield)
	}
	turn := fair.TurnOf(ctx)
	if err := turn.Check(ctx); err != nil { // before and after, because waiting must not hold what sorting takes
		return err
	}
	slots := make([]Slot, 0, s.count)
	docs := make([]bson.Raw, 0, s.count)
	err := s.between(ctx, 0, s.count, func(slot Slot) bool {
		slots, docs = append(slots, slot), append(docs, s.table.Doc(slot))
		return true
	})
	if err != nil {
		return err
	}
	ranked := rank(s.order, docs)
	ranked.sort(ranked.at, 0, from, to)
	sorted := ranked.at[from:to]
	for i, at := range sorted {
		sorted[i] = int32(slots[at]) // the keys are not needed any more
	}
	if err := turn.Check(ctx); err != nil {
		return err
	}
	for _, slot := range sorted {
		if !yield(Slot(slot)) {
			return nil
		}
	}
	return nil
}

// head is the next selected row of a segment in an order.
type head struct {
	base Slot
	rest permutation // the rows after it
	slot Slot
	keys []bson.RawValue // nil if not read yet
}

// advance moves to the next selected row, and reports whether there is one. It calls pace for each row that it skips.
func (h *head) advance(s *Subset, pace func() error) (bool, error) {
	h.keys = nil
	for i, row := range h.rest {
		if h.slot = h.base + Slot(row); s.rows.Test(uint(h.slot)) {
			h.rest = h.rest[i+1:]
			return true, nil
		}
		if err := pace(); err != nil {
			return false, err
		}
	}
	return false, nil
}

// merged is inOrder with the segments' own orders.
func (s *Subset) merged(ctx context.Context, from, to int, yield func(Slot) bool) error {
	order, turn, pace := s.order.Total(), fair.TurnOf(ctx), fair.Pace(ctx)
	var heads []*head
	for i, seg := range s.table.segments {
		all, err := seg.sortedBy(ctx, order)
		if err != nil {
			return err
		}
		h := &head{base: s.table.bases[i], rest: all}
		more, err := h.advance(s, pace)
		if err != nil {
			return err
		}
		if more {
			heads = append(heads, h)
		}
	}
	less := func(a, b *head) int {
		for _, h := range []*head{a, b} {
			if h.keys == nil {
				h.keys = make([]bson.RawValue, len(order))
				order.ReadKeys(h.keys, s.table.Doc(h.slot))
			}
		}
		return order.CompareKeys(a.keys, b.keys)
	}
	for at := 0; at < to && len(heads) > 0; at++ {
		if at%checkEvery == 0 {
			if err := turn.Check(ctx); err != nil {
				return err
			}
		}
		first := heads[0]
		if len(heads) > 1 {
			first = slices.MinFunc(heads, less)
		}
		if at >= from && !yield(first.slot) {
			return nil
		}
		more, err := first.advance(s, pace)
		if err != nil {
			return err
		}
		if !more {
			heads = slices.DeleteFunc(heads, func(h *head) bool { return h == first })
		}
	}
	return nil
}

// orderName returns the name of an order.
func orderName(order raw.Sort) string {
	var name strings.Builder
	for _, field := range order {
		sign := "+"
		if field.Desc {
			sign = "-"
		}
		name.WriteString(sign + field.Path.String() + "\x00")
	}
	return name.String()
}

// orderNamed is the inverse of orderName.
func orderNamed(name string) (order raw.Sort) {
	for field := range strings.SplitSeq(strings.TrimSuffix(name, "\x00"), "\x00") {
		order = append(order, raw.SortField{Path: raw.PathOf(field[1:]), Desc: field[0] == '-'})
	}
	return order
}

// sortedBy returns the rows of the segment in an order, which it keeps. One caller sorts them in its turn; concurrent
// callers wait without theirs.
func (s *segment) sortedBy(ctx context.Context, order raw.Sort) (permutation, error) {
	key := derivedKey{segment: s, kind: kindOrder, path: orderName(order)}
	if kept := s.budget.find(key); kept != nil {
		return kept.(permutation), nil
	}
	sorted, err := fair.Lead(ctx, &s.budget.builds, key, func() (derived, error) {
		if kept := s.budget.find(key); kept != nil {
			return kept, nil
		}
		sorted, err := rank(order, s.rows).inTurn(ctx)
		if err != nil {
			return nil, err
		}
		all := make(permutation, len(sorted))
		for i, row := range sorted {
			all[i] = uint32(row)
		}
		s.budget.keep(key, all)
		return all, nil
	})
	if err != nil {
		return nil, err
	}
	return sorted.(permutation), nil
}
