package similar

import (
	"iter"
	"slices"
	"sync"
)

// Corpus is a set of titles prepared for Closest.
type Corpus struct {
	// symbols holds all titles in a row, one byte for each character; title i ends at
	// ends[i].
	symbols []byte
	ends    []int
	grams   []histogram // of each title

	alphabet *alphabet
	// rare holds, by title, the characters outside the alphabet in the title's order. In
	// symbols each is rareSymbol.
	rare map[int][]rune

	longest int       // characters of the longest title
	pool    sync.Pool // of *buffers
}

// NewCorpus normalises and prepares stored titles. Closest returns positions in their
// order and prefers the first of equal titles.
func NewCorpus(titles iter.Seq[string]) *Corpus {
	c := &Corpus{alphabet: newAlphabet(), rare: make(map[int][]rune)}
	for title := range titles {
		c.add(Normalize(title))
	}
	// Appending leaves a quarter of spare capacity; a corpus lives long and never grows.
	c.symbols, c.ends, c.grams = slices.Clone(c.symbols), slices.Clone(c.ends), slices.Clone(c.grams)
	return c
}

// Len returns the number of titles.
func (c *Corpus) Len() int { return len(c.ends) }

// add appends a normalised title.
func (c *Corpus) add(title string) {
	start := len(c.symbols)
	for _, r := range title {
		if len(c.symbols)-start == MaxLength {
			break
		}
		c.symbols = append(c.symbols, c.symbol(r))
	}
	c.ends = append(c.ends, len(c.symbols))
	c.longest = max(c.longest, len(c.symbols)-start)
	c.grams = append(c.grams, histogramOf(c.symbols[start:]))
}

// symbol returns the symbol of a character of the title being added.
func (c *Corpus) symbol(r rune) byte {
	s := c.alphabet.assign(r)
	if s == rareSymbol {
		i := len(c.ends)
		c.rare[i] = append(c.rare[i], r)
	}
	return s
}

// title returns the symbols of title i.
func (c *Corpus) title(i int) []byte {
	start := 0
	if i > 0 {
		start = c.ends[i-1]
	}
	return c.symbols[start:c.ends[i]]
}
