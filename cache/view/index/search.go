package index

import (
	"context"
	"fmt"
	"slices"

	"github.com/bits-and-blooms/bitset"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/cache/view/index/words"
	"vitrine/rules/fold"
)

// wordIndex is the words of a segment's rows.
type wordIndex struct{ *words.Index }

func (x wordIndex) memory() int64 { return x.Memory() }

// wordsKey is what a segment keeps its words under.
var wordsKey = derivedKey{kind: kindWords}

// words returns the index of the segment's words.
func (s *segment) words(def *Definition, workers int) wordIndex {
	return derive(s, wordsKey, func() wordIndex {
		return wordIndex{words.Build(len(s.rows), workers, func() words.Reader { return def.reader(s.rows) })}
	})
}

// reader returns a reader of the words of rows.
func (d *Definition) reader(rows []bson.Raw) words.Reader {
	var folder fold.Folder
	return func(row int, add func(word []byte, title bool)) {
		d.Words(rows[row], func(text string, title bool) {
			folder.Each(text, func(word []byte) { add(word, title) })
		})
	}
}

// Search returns the selected rows that have all words, which fold.Terms made, the last
// one as the beginning of a word. An empty word counts as found.
func (s *Selection) Search(ctx context.Context, terms []string) (*Selection, error) {
	if s.snap.def.Words == nil {
		return nil, fmt.Errorf("view %s has no words to search", s.snap.def.Name)
	}
	found := *s
	found.rows, found.titles = s.rows.Clone(), nil
	for i, term := range terms {
		if term == "" {
			continue
		}
		all, title := bitset.New(uint(s.snap.size)), bitset.New(uint(s.snap.size))
		for k, seg := range s.snap.segments {
			if !seg.has(wordsKey) {
				if err := seg.mayDerive(ctx); err != nil {
					return nil, err
				}
			}
			index := seg.words(s.snap.def, fair.Workers(ctx))
			if err := index.mark(ctx, term, i == len(terms)-1, uint(s.snap.bases[k]), all, title); err != nil {
				return nil, err
			}
		}
		found.rows.InPlaceIntersection(all)
		found.titles = append(found.titles, title)
	}
	found.count = int(found.rows.Count())
	if s.sorted != nil {
		found.sorted = slices.DeleteFunc(slices.Clone(s.sorted), func(slot Slot) bool { return !found.rows.Test(uint(slot)) })
	}
	return &found, nil
}

// mark adds the rows that have a term to a set, and to another those that have it in
// their title.
func (x wordIndex) mark(ctx context.Context, term string, prefix bool, base uint, all, title *bitset.BitSet) error {
	turn := fair.TurnOf(ctx)
	from, to := x.Find(term, prefix)
	for word := from; word < to; word++ {
		if (word-from)%checkEvery == 0 {
			if err := turn.Check(ctx); err != nil {
				return err
			}
		}
		x.Rows(word, func(row uint32, inTitle bool) {
			all.Set(base + uint(row))
			if inTitle {
				title.Set(base + uint(row))
			}
		})
	}
	return nil
}

// ByRelevance returns the selection of Search with the rows first that have the most
// terms in their titles. Ties are in the view's order.
func (s *Selection) ByRelevance() *Selection {
	by := *s
	by.sorted = nil
	levels := make([][]Slot, len(s.titles)+1)
	for slot := range by.All() {
		missing := 0
		for _, title := range s.titles {
			if !title.Test(uint(slot)) {
				missing++
			}
		}
		levels[missing] = append(levels[missing], slot)
	}
	by.sorted = slices.Concat(levels...)
	return &by
}
