package index

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bits-and-blooms/bitset"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/rules/fold"
)

// Search returns the selected rows that have all words, which fold.Terms made, the last
// one as the beginning of a word. An empty word counts as found.
func (s *Selection) Search(ctx context.Context, terms []string) (*Selection, error) {
	m, err := s.snap.def.Matcher(terms)
	if err != nil {
		return nil, err
	}
	found := *s
	found.rows = bitset.New(uint(s.snap.size))
	found.titles = make([]*bitset.BitSet, len(terms))
	for i := range terms {
		found.titles[i] = bitset.New(uint(s.snap.size))
	}
	for slot, ok := s.rows.NextSet(0); ok; slot, ok = s.rows.NextSet(slot + 1) {
		if err := fair.TurnOf(ctx).Check(ctx); err != nil {
			return nil, err
		}
		if titles, ok := m.Match(s.snap.Doc(Slot(slot))); ok {
			found.rows.Set(slot)
			for i := range titles {
				found.titles[i].Set(slot)
			}
		}
	}
	found.count = int(found.rows.Count())
	if s.sorted != nil {
		found.sorted = slices.DeleteFunc(slices.Clone(s.sorted), func(slot Slot) bool { return !found.rows.Test(uint(slot)) })
	}
	return &found, nil
}

// ByRelevance returns the selection of Search with the rows first that have the most
// terms in their titles. Ties are in the view's order.
func (s *Selection) ByRelevance() *Selection {
	by := *s
	by.sorted = nil
	levels := make([][]Slot, len(s.titles)+1)
	for slot := range by.All() {
		n := 0
		for _, title := range s.titles {
			if title.Test(uint(slot)) {
				n++
			}
		}
		levels[len(s.titles)-n] = append(levels[len(s.titles)-n], slot)
	}
	by.sorted = slices.Concat(levels...)
	return &by
}

// Matcher decides which rows have some terms, row by row: what Search returns, where rows
// are not in memory. It is for one goroutine.
type Matcher struct {
	words  func(row bson.Raw, add func(text string, title bool))
	terms  []string
	folder fold.Folder
	found  []bool // per term
	titles []bool // per term
}

// Matcher returns the matcher for the terms of a Search.
func (d *Definition) Matcher(terms []string) (*Matcher, error) {
	if d.Words == nil {
		return nil, fmt.Errorf("view %s has no words to search", d.Name)
	}
	return &Matcher{words: d.Words, terms: terms, found: make([]bool, len(terms)), titles: make([]bool, len(terms))}, nil
}

// Match reports whether a row has all terms, and how many of them are in its title.
func (m *Matcher) Match(row bson.Raw) (titles int, ok bool) {
	clear(m.found)
	clear(m.titles)
	m.words(row, func(text string, title bool) {
		m.folder.Each(text, func(word []byte) {
			for i, term := range m.terms {
				if string(word) == term || i == len(m.terms)-1 && strings.HasPrefix(string(word), term) {
					m.found[i] = true
					m.titles[i] = m.titles[i] || title
				}
			}
		})
	})
	for i := range m.terms {
		if !m.found[i] && m.terms[i] != "" {
			return 0, false
		}
		if m.titles[i] && m.terms[i] != "" {
			titles++
		}
	}
	return titles, true
}
