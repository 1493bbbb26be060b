package index

import (
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/fold"
)

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
		m.folder.Each(text, func(word []byte) { m.note(word, title) })
	})
	for i := range m.terms {
		if m.terms[i] == "" {
			continue
		}
		if !m.found[i] {
			return 0, false
		}
		if m.titles[i] {
			titles++
		}
	}
	return titles, true
}

// note marks the terms that a word of the row is or begins with.
func (m *Matcher) note(word []byte, title bool) {
	for i, term := range m.terms {
		if string(word) == term || i == len(m.terms)-1 && strings.HasPrefix(string(word), term) {
			m.found[i] = true
			m.titles[i] = m.titles[i] || title
		}
	}
}
