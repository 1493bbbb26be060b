package similar

// query is an asked title prepared for comparison with a corpus. It is read only.
type query struct {
	length int // characters
	words  int // of 64 bits, that a mask of one bit a character takes
	// masks holds for every symbol a mask of the characters that are this symbol,
	// words each; for rareSymbol of all that may be.
	masks []uint64
	// rare holds the masks of the characters outside the alphabet.
	rare map[rune][]uint64
	gram histogram
	// crowded: gram ran out of room, so that it bounds nothing.
	crowded bool
}

// query prepares a normalised title.
func (c *Corpus) query(title []rune) *query {
	q := &query{length: len(title), words: (len(title) + 63) / 64, rare: make(map[rune][]uint64)}
	q.masks = make([]uint64, symbols*q.words)
	for i, r := range title {
		symbol := c.alphabet.symbol(r)
		if symbol == rareSymbol {
			if q.rare[r] == nil {
				q.rare[r] = make([]uint64, q.words)
			}
			q.rare[r][i/64] |= 1 << (i % 64)
		}
		q.masks[int(symbol)*q.words+i/64] |= 1 << (i % 64)
		if !q.gram.count(symbol) {
			q.crowded = true
		}
	}
	return q
}

// mask returns where a symbol stands in the query.
func (q *query) mask(symbol byte) []uint64 {
	return q.masks[int(symbol)*q.words:][:q.words]
}

// roughBound returns at least the number of matching characters, from lengths and
// histograms alone.
func (q *query) roughBound(length int, gram *histogram) int {
	bound := min(q.length, length)
	if q.crowded {
		return bound
	}
	return min(bound, q.gram.shared(gram))
}
