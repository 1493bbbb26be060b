package index

import (
	"context"
	"fmt"
	"slices"

	"github.com/bits-and-blooms/bitset"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/cache/view/index/words"
)

// wordsKey is what a segment keeps its words under.
var wordsKey = derivedKey{kind: kindWords}

// words returns the index of the segment's words.
func (s *segment) words(workers int) *words.Index {
	return derive(s, wordsKey, func() *words.Index {
		return words.Build(len(s.rows), workers, func(row int, add func(text string, title bool)) { s.def.Words(s.rows[row], add) })
	})
}

// Searchable returns an error if the view declares no words.
func (d *Definition) Searchable() error {
	if d.Words == nil {
		return fmt.Errorf("view %s has no words to search", d.Name)
	}
	return nil
}

// Search implements Selection.
func (s *Resident) Search(ctx context.Context, terms []string) (Selection, error) {
	if err := s.snap.def.Searchable(); err != nil {
		return nil, err
	}
	found := *s
	found.rows, found.titles = s.rows.Clone(), nil
	for i, term := range terms {
		if term == "" {
			continue
		}
		all, titles, err := s.snap.having(ctx, term, i == len(terms)-1)
		if err != nil {
			return nil, err
		}
		found.rows.InPlaceIntersection(all)
		found.titles = append(found.titles, titles)
	}
	found.retain()
	return &found, nil
}

// having returns the slots whose rows have a term, and those that have it in their title.
func (s *Snapshot) having(ctx context.Context, term string, prefix bool) (all, titles *bitset.BitSet, err error) {
	turn := fair.TurnOf(ctx)
	all, titles = bitset.New(uint(s.size)), bitset.New(uint(s.size))
	for i, seg := range s.segments {
		if err := seg.mayDerive(ctx, wordsKey); err != nil {
			return nil, nil, err
		}
		x := seg.words(fair.Workers(ctx))
		from, to := x.Find(term, prefix)
		for word := from; word < to; word++ {
			if (word-from)%checkEvery == 0 {
				if err := turn.Check(ctx); err != nil {
					return nil, nil, err
				}
			}
			x.Mark(word, uint32(s.bases[i]), all.Words(), titles.Words())
		}
	}
	return all, titles, nil
}

// Match decides for one row what Search decides for all: whether it has all terms, and how
// many of them are in its title.
func (d *Definition) Match(row bson.Raw, terms []string) (titles int, ok bool) {
	x := words.Build(1, 1, func(_ int, add func(text string, title bool)) { d.Words(row, add) })
	for i, term := range terms {
		if term == "" {
			continue
		}
		from, to := x.Find(term, i == len(terms)-1)
		if from == to {
			return 0, false
		}
		var all, title [1]uint64
		for word := from; word < to; word++ {
			x.Mark(word, 0, all[:], title[:])
		}
		titles += int(title[0])
	}
	return titles, true
}

// ByRelevance implements Selection.
func (s *Resident) ByRelevance() Selection {
	levels := []*bitset.BitSet{s.rows.Clone()} // the rows with no term in their title, with one and so on
	for _, titles := range s.titles {
		levels = append(levels, bitset.New(uint(s.snap.size)))
		for n := len(levels) - 2; n >= 0; n-- {
			levels[n+1].InPlaceUnion(levels[n].Intersection(titles))
			levels[n].InPlaceDifference(titles)
		}
	}
	slices.Reverse(levels)
	by := *s
	by.order, by.levels = nil, levels
	return &by
}

// byLevel yields the rows from one place in the order of ByRelevance up to another.
func (s *Resident) byLevel(from, to int, yield func(Slot) bool) {
	more := true
	for _, rows := range s.levels {
		level := Resident{snap: s.snap, rows: rows, count: int(rows.Count())}
		level.between(min(from, level.count), min(to, level.count), func(slot Slot) bool {
			more = yield(slot)
			return more
		})
		if from, to = max(from-level.count, 0), to-level.count; !more || to <= 0 {
			return
		}
	}
}
