package similar

import "math/bits"

// subsequence returns the length of the longest common subsequence of query and
// title, rare symbols taken for equal: a bound that Matches cannot exceed. row is
// room for one mask.
//
// It is the dynamic program's row as bits, where a zero at i says that the query's
// character i makes the subsequence longer by one. With each symbol of the title
// every zero moves down to the lowest place above the next zero below it where the
// symbol stands: the addition carries from there up into the zero, and what it
// clears on the way the "or" sets again.
func (q *query) subsequence(title []byte, row []uint64) int {
	switch q.words {
	case 0:
		return 0
	case 1:
		return q.subsequence1(title)
	case 2:
		return q.subsequence2(title)
	}
	for w := range row {
		row[w] = ^uint64(0)
	}
	for _, s := range title {
		var carry uint64
		for w, mask := range q.mask(s) {
			hit := row[w] & mask
			var sum uint64
			sum, carry = bits.Add64(row[w], hit, carry)
			row[w] = sum | (row[w] - hit)
		}
	}
	zeros := 0
	for _, word := range row {
		zeros += bits.OnesCount64(^word) // bits above the query's last character stay ones
	}
	return zeros
}

// subsequence1 is subsequence for queries of up to 64 characters, in a register.
func (q *query) subsequence1(title []byte) int {
	row := ^uint64(0)
	masks := (*[symbols]uint64)(q.masks)
	for _, s := range title {
		hit := row & masks[s]
		row = (row + hit) | (row - hit)
	}
	return bits.OnesCount64(^row)
}

// subsequence2 is subsequence for queries of up to 128 characters, which most
// titles are, in two registers.
func (q *query) subsequence2(title []byte) int {
	lo, hi := ^uint64(0), ^uint64(0)
	masks := (*[2 * symbols]uint64)(q.masks)
	for _, s := range title {
		hitLo, hitHi := lo&masks[2*int(s)], hi&masks[2*int(s)+1]
		sumLo, carry := bits.Add64(lo, hitLo, 0)
		sumHi, _ := bits.Add64(hi, hitHi, carry)
		lo = sumLo | (lo - hitLo)
		hi = sumHi | (hi - hitHi)
	}
	return bits.OnesCount64(^lo) + bits.OnesCount64(^hi)
}
