package words

import (
	"strings"

	"vitrine/rules/fold"
)

// Matcher decides row by row what an Index decides for all. It is for one goroutine.
type Matcher struct {
	terms  []string
	folder fold.Folder
	found  []bool // per term
	titles []bool // per term
}

// NewMatcher returns a matcher of all terms, the last one as the beginning of a word. An
// empty term counts as found.
func NewMatcher(terms []string) *Matcher {
	return &Matcher{terms: terms, found: make([]bool, len(terms)), titles: make([]bool, len(terms))}
}

// Match reports whether the texts that read adds have all terms, and how many of them are
// in the title.
func (m *Matcher) Match(read func(add func(text string, title bool))) (titles int, ok bool) {
	clear(m.found)
	clear(m.titles)
	read(func(text string, title bool) {
		m.folder.Each(text, func(word []byte) { m.note(word, title) })
	})
	for i, term := range m.terms {
		switch {
		case term == "":
		case !m.found[i]:
			return 0, false
		case m.titles[i]:
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
