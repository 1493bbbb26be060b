package similar

import "math/bits"

// stretch is how many characters of a title are processed before the next check whether the result can still reach
// enough.
const stretch = 16

// subsequence returns the length of the longest common subsequence of the symbols of query
// and title: an upper bound of the matching characters. If the length is less than enough,
// the result may be any number from it to enough-1. row is scratch space for one mask.
//
// The row of the dynamic program is kept as bits: a zero at i says that the query's character i makes the
// subsequence longer by one. With each symbol of the title, every zero moves down to the symbol's lowest position
// above the next lower zero: the addition carries from that position up into the zero, and the "or" restores the
// bits cleared on the way. Bits above the query's last character stay ones.
func (q *query) subsequence(title []byte, enough int, row []uint64) int {
	switch q.words {
	case 1:
		return q.subsequence1(title, enough)
	case 2:
		return q.subsequence2(title, enough)
	}
	for w := range row {
		row[w] = ^uint64(0)
	}
	for len(title) > 0 {
		n := min(stretch, len(title))
		for _, s := range title[:n] {
			q.step(s, row)
		}
		title = title[n:]
		if most := zeros(row) + len(title); most < enough {
			return most
		}
	}
	return zeros(row)
}

// step updates the row for one symbol of a title.
func (q *query) step(symbol byte, row []uint64) {
	var carry uint64
	for w, mask := range q.mask(symbol) {
		hit := row[w] & mask
		var sum uint64
		sum, carry = bits.Add64(row[w], hit, carry)
		row[w] = sum | (row[w] - hit)
	}
}

func zeros(row []uint64) int {
	n := 0
	for _, word := range row {
		n += bits.OnesCount64(^word)
	}
	return n
}

// subsequence1 is subsequence in a register, for queries of up to 64 characters.
func (q *query) subsequence1(title []byte, enough int) int {
	row, masks := ^uint64(0), (*[symbols]uint64)(q.masks)
	for len(title) > 0 {
		n := min(stretch, len(title))
		for _, s := range title[:n] {
			hit := row & masks[s]
			row = (row + hit) | (row - hit)
		}
		title = title[n:]
		if most := bits.OnesCount64(^row) + len(title); most < enough {
			return most
		}
	}
	return bits.OnesCount64(^row)
}

// subsequence2 is subsequence in two registers, for queries of up to 128 characters, which most titles are.
func (q *query) subsequence2(title []byte, enough int) int {
	lo, hi := ^uint64(0), ^uint64(0)
	masks := (*[2 * symbols]uint64)(q.masks)
	for len(title) > 0 {
		n := min(stretch, len(title))
		for _, s := range title[:n] {
			hitLo, hitHi := lo&masks[2*int(s)], hi&masks[2*int(s)+1]
			sumLo, carry := bits.Add64(lo, hitLo, 0)
			sumHi, _ := bits.Add64(hi, hitHi, carry)
			lo = sumLo | (lo - hitLo)
			hi = sumHi | (hi - hitHi)
		}
		title = title[n:]
		if most := bits.OnesCount64(^lo) + bits.OnesCount64(^hi) + len(title); most < enough {
			return most
		}
	}
	return bits.OnesCount64(^lo) + bits.OnesCount64(^hi)
}
