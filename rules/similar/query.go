package similar

// query is a client's title prepared for comparison with a corpus. It is read-only.
type query struct {
	length  int               // characters
	words   int               // 64-bit words in a mask, which has one bit for each character; at least 1
	masks   []uint64          // for every symbol: the positions of its characters in the title
	exact   map[rune][]uint64 // masks of characters
	gram    histogram
	crowded bool // a bin of gram is full, so that gram gives no bound
}

func newQuery(title []rune) *query {
	q := &query{length: len(title), words: max(1, (len(title)+63)/64), exact: make(map[rune][]uint64)}
	q.masks = make([]uint64, symbols*q.words)
	for i, r := range title {
		if q.exact[r] == nil {
			q.exact[r] = make([]uint64, q.words)
		}
		q.exact[r][i/64] |= 1 << (i % 64)
		q.mask(byte(r))[i/64] |= 1 << (i % 64)
		if !q.gram.count(byte(r)) {
			q.crowded = true
		}
	}
	return q
}

// mask returns the positions of a symbol in the query.
func (q *query) mask(symbol byte) []uint64 {
	return q.masks[int(symbol)*q.words:][:q.words]
}

// roughBound returns an upper bound of the matching characters from lengths and histograms.
func (q *query) roughBound(length int, gram *histogram) int {
	bound := min(q.length, length)
	if q.crowded {
		return bound
	}
	return min(bound, q.gram.shared(gram))
}
