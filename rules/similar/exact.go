package similar

import "math/bits"

// pair compares a query with one title at a time by PHP's similar_text. It is the scratch space of one goroutine.
//
// A mask has one bit for each character of the query; a pair has one mask for each
// position of the title. After n rounds, bit i of the mask at j says that the n
// characters ending at i in the query equal those ending at j in the title.
type pair struct {
	words int
	masks []uint64 // positions of the title's characters in the query
	round []uint64 // the first round: masks, limited to the current part
	ends  [2]ends  // of the previous round and of the current one
}

// ends holds the positions at which common substrings of one length end.
type ends struct {
	masks []uint64
	at    []int // positions in the title whose masks are not zero, ascending
}

// newPair returns a pair for q and titles of up to longest characters.
func (q *query) newPair(longest int) *pair {
	size := longest * q.words
	p := &pair{words: q.words, masks: make([]uint64, size), round: make([]uint64, size)}
	for i := range p.ends {
		p.ends[i] = ends{masks: make([]uint64, size), at: make([]int, 0, longest)}
	}
	return p
}

// matches returns the number of matching characters of the query and a title. If several common substrings are
// longest, it uses the one that begins first in the query, then the one that begins first in the title.
func (p *pair) matches(q *query, title []rune) int {
	for j, r := range title {
		at := p.masks[j*p.words:][:p.words]
		clear(at[copy(at, q.exact[r]):])
	}
	return p.split(part{0, q.length, 0, len(title)})
}

// part is a part of the query and a part of the title, by their bounds.
type part struct{ a0, a1, b0, b1 int }

// split is the recursion of matches.
func (p *pair) split(in part) int {
	if in.a0 >= in.a1 || in.b0 >= in.b1 {
		return 0
	}
	i, j, n := p.longestCommon(in)
	if n == 0 {
		return 0
	}
	return n + p.split(part{in.a0, i, in.b0, j}) + p.split(part{i + n, in.a1, j + n, in.b1})
}

// longestCommon returns the start of the first longest common substring of two parts, and its length.
func (p *pair) longestCommon(in part) (i, j, n int) {
	// Only these words of each mask have bits for the part.
	from, to := in.a0/64, (in.a1-1)/64+1
	last, next := &p.ends[0], &p.ends[1]
	p.firstRound(in, from, to, last)
	if len(last.at) == 0 {
		return 0, 0, 0
	}
	for n = 1; ; n++ {
		p.nextRound(in, from, to, last, next)
		if len(next.at) == 0 {
			break
		}
		last, next = next, last
	}
	// Substrings of equal length begin in the order in which they end.
	first := in.a1
	for _, at := range last.at {
		if end := lowestBit(last.masks[at*p.words:], from, to); end < first {
			first, j = end, at
		}
	}
	return first - n + 1, j - n + 1, n
}

// firstRound finds the common characters.
func (p *pair) firstRound(in part, from, to int, out *ends) {
	head := ^uint64(0) << (in.a0 % 64)
	tail := ^uint64(0) >> (63 - (in.a1-1)%64)
	out.at = out.at[:0]
	for j := in.b0; j < in.b1; j++ {
		var some uint64
		for w := from; w < to; w++ {
			word := p.masks[j*p.words+w]
			if w == from {
				word &= head
			}
			if w == to-1 {
				word &= tail
			}
			p.round[j*p.words+w] = word
			out.masks[j*p.words+w] = word
			some |= word
		}
		if some != 0 {
			out.at = append(out.at, j)
		}
	}
}

// nextRound finds the common substrings that are one character longer.
func (p *pair) nextRound(in part, from, to int, last, out *ends) {
	out.at = out.at[:0]
	for _, j := range last.at {
		if j+1 == in.b1 {
			break
		}
		var some, carry uint64
		for w := from; w < to; w++ {
			word := last.masks[j*p.words+w]
			longer := (word<<1 | carry) & p.round[(j+1)*p.words+w]
			out.masks[(j+1)*p.words+w] = longer
			carry = word >> 63
			some |= longer
		}
		if some != 0 {
			out.at = append(out.at, j+1)
		}
	}
}

// lowestBit returns the position of the lowest bit set in words from to to. At least one bit must be set.
func lowestBit(mask []uint64, from, to int) int {
	w := from
	for w < to-1 && mask[w] == 0 {
		w++
	}
	return w*64 + bits.TrailingZeros64(mask[w])
}
