package similar

// histogram counts a title's symbols in 32 bins, a byte each; a bin counts up to maxCount. Symbols that share a bin
// only loosen the bound.
type histogram [4]uint64

// The size of a histogram, and the masks with which to add and compare its bytes.
const (
	bins     = 32
	maxCount = 127 // leaves the high bit of the byte free for shared

	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
	evenByte = 0x00ff00ff00ff00ff
	everyTwo = 0x0001000100010001
)

// count adds one symbol. It returns false if the bin is full.
func (h *histogram) count(symbol byte) bool {
	bin := binOf(symbol)
	word, shift := bin/8, bin%8*8
	if h[word]>>shift&0xff == maxCount {
		return false
	}
	h[word] += 1 << shift
	return true
}

// binOf returns the bin of a symbol. Letters, digits and the space have bins of their own.
func binOf(symbol byte) byte {
	switch {
	case 'a' <= symbol && symbol <= 'z':
		return symbol - 'a'
	case '0' <= symbol && symbol <= '9':
		return 26 + (symbol-'0')/2
	case symbol == ' ':
		return bins - 1
	default:
		return symbol % bins
	}
}

// shared returns the size of the intersection of the two multisets, eight bins at a time. If at least one of the two
// had room for all its symbols, the result is exact or too large.
func (h *histogram) shared(o *histogram) int {
	var sum uint64 // sum in lanes of two bytes
	for i, a := range h {
		b := o[i]
		atLeast := (a | highBits) - b&^highBits // high bit of each byte: a >= b
		take := (atLeast & highBits >> 7) * 0xff
		smaller := b&take | a&^take
		sum += smaller&evenByte + smaller>>8&evenByte
	}
	return int(sum * everyTwo >> 48)
}
