package similar

import (
	"iter"
	"slices"
)

// symbols is the number of different symbols. The symbol of a character is its low byte, so that the letters of any
// one script have different symbols. Bounds compare symbols: characters that share one only loosen the bound.
const symbols = 256

// Corpus is a set of titles prepared for Closest.
type Corpus struct {
	symbols []byte // of all titles, a byte for each character; title i ends at ends[i]
	ends    []int
	grams   []histogram // histogram of each title

	wide map[int]string // titles with characters other than their symbols, by position

	longest int // characters of the longest title
}

// NewCorpus normalises and prepares stored titles. Closest returns positions in their order and prefers the first of
// equal titles.
func NewCorpus(titles iter.Seq[string]) *Corpus {
	c := &Corpus{wide: make(map[int]string)}
	for title := range titles {
		c.add(Normalize(title))
	}
	// Clone, because appending leaves a quarter of spare capacity, and a corpus lives long and never grows.
	c.symbols, c.ends, c.grams = slices.Clone(c.symbols), slices.Clone(c.ends), slices.Clone(c.grams)
	return c
}

// Len returns the number of titles.
func (c *Corpus) Len() int { return len(c.ends) }

func (c *Corpus) add(title string) {
	start := len(c.symbols)
	for _, r := range title {
		if len(c.symbols)-start == maxLength {
			break
		}
		c.symbols = append(c.symbols, byte(r))
		if r >= symbols {
			c.wide[len(c.ends)] = title
		}
	}
	c.ends = append(c.ends, len(c.symbols))
	c.longest = max(c.longest, len(c.symbols)-start)
	var gram histogram
	for _, s := range c.symbols[start:] {
		gram.count(s)
	}
	c.grams = append(c.grams, gram)
}

// title returns the symbols of title i.
func (c *Corpus) title(i int) []byte {
	start := 0
	if i > 0 {
		start = c.ends[i-1]
	}
	return c.symbols[start:c.ends[i]]
}

// characters returns the characters of title i, in the memory of buf if they fit.
func (c *Corpus) characters(i int, buf []rune) []rune {
	buf = buf[:0]
	if title, ok := c.wide[i]; ok {
		for _, r := range title {
			buf = append(buf, r)
		}
		return cut(buf)
	}
	for _, s := range c.title(i) {
		buf = append(buf, rune(s))
	}
	return buf
}
