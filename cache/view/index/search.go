package index

import (
	"context"
	"maps"
	"slices"

	"github.com/bits-and-blooms/bitset"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/cache/view/index/words"
	"vitrine/rules"
	"vitrine/rules/fold"
)

var wordsKey = derivedKey{kind: kindWords}

// words returns the index of the segment's words. Searches need it whole, and it takes longest to build: it is built
// on all processors, but always rests.
func (s *segment) words() *words.Index {
	return derive(s, wordsKey, func() *words.Index {
		return words.Build(len(s.rows), s.workers, func(row int, add func(text string, title bool)) {
			s.def.Words(s.rows[row], add)
			s.nap()
		})
	})
}

// Searchable returns an error if the view declares no words.
func (d *Definition) Searchable() error {
	if d.Words == nil {
		return rules.Wrongf("q", "", "view %s has no words to search", d.Name)
	}
	return nil
}

// Search returns the rows that have all terms. fold.Terms makes the terms; the last one stands for all words that
// begin with it. An empty term matches all rows. The view's Definition must have Words.
func (s *Subset) Search(ctx context.Context, terms []string) (*Subset, error) {
	if err := s.table.def.Searchable(); err != nil {
		return nil, err
	}
	found := *s
	found.rows, found.titles = s.rows.Clone(), nil
	for i, term := range terms {
		if term == "" {
			continue
		}
		all, titles, err := s.table.having(ctx, term, i == len(terms)-1)
		if err != nil {
			return nil, err
		}
		found.rows.InPlaceIntersection(all)
		found.titles = append(found.titles, titles)
	}
	found.retain()
	return &found, nil
}

// having returns the slots whose rows have a term, and the slots whose rows have it in the title.
func (t *Table) having(ctx context.Context, term string, prefix bool) (all, titles *bitset.BitSet, err error) {
	turn := fair.TurnOf(ctx)
	all, titles = bitset.New(uint(t.size)), bitset.New(uint(t.size))
	for i, seg := range t.segments {
		if err := seg.mayDerive(ctx, wordsKey); err != nil {
			return nil, nil, err
		}
		x := seg.words()
		from, to := x.Find(term, prefix)
		for word := from; word < to; word++ {
			if (word-from)%checkEvery == 0 {
				if err := turn.Check(ctx); err != nil {
					return nil, nil, err
				}
			}
			x.Mark(word, uint32(t.bases[i]), all.Words(), titles.Words())
		}
	}
	return all, titles, nil
}

// WordsOf returns the words under which Search finds a row, sorted.
func (d *Definition) WordsOf(row bson.Raw) []string {
	all := map[string]struct{}{}
	var folder fold.Folder
	d.Words(row, func(text string, _ bool) {
		folder.Each(text, func(word []byte) { all[string(word)] = struct{}{} })
	})
	return slices.Sorted(maps.Keys(all))
}

// Match is Search for a single row: it reports whether the row has all terms, and how many are in its title.
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

// ByRelevance sorts the rows of Search by how many terms they have in their titles, ties in the view's order.
func (s *Subset) ByRelevance() *Subset {
	levels := []*bitset.BitSet{s.rows.Clone()} // sets of the rows with no term in their title, with one and so on
	for _, titles := range s.titles {
		levels = append(levels, bitset.New(uint(s.table.size)))
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

// byLevel yields the rows in the range [from, to) of the order of ByRelevance. The error is the context's.
func (s *Subset) byLevel(ctx context.Context, from, to int, yield func(Slot) bool) error {
	more := true
	for _, rows := range s.levels {
		level := Subset{table: s.table, rows: rows, count: int(rows.Count())}
		err := level.between(ctx, min(from, level.count), min(to, level.count), func(slot Slot) bool {
			more = yield(slot)
			return more
		})
		if from, to = max(from-level.count, 0), to-level.count; err != nil || !more || to <= 0 {
			return err
		}
	}
	return nil
}
