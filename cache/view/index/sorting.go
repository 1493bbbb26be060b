package index

import (
	"cmp"
	"encoding/binary"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// prefixed is a text value with its first eight bytes as a number, which decide
// nearly every comparison of texts without a look at the document.
type prefixed struct {
	prefix uint64
	value  uint32
}

// inOrder returns the numbers of values in the order of the index. Texts, which
// are most of what an index of many values holds, are sorted apart; they stand
// next to each other in the order, so they can be put in their place as a whole.
func inOrder(values []raw.Value) []uint32 {
	var texts []prefixed
	others := make([]uint32, 0, len(values))
	for n := range values {
		switch v := &values[n]; v.Raw.Type {
		case bson.TypeString:
			texts = append(texts, prefixed{textPrefix(v.Raw.Value), uint32(n)})
		default:
			others = append(others, uint32(n))
		}
	}
	byValue := func(a, b uint32) int { return compareDistinct(&values[a], &values[b]) }
	slices.SortFunc(others, byValue)
	if len(texts) == 0 {
		return others
	}
	slices.SortFunc(texts, func(a, b prefixed) int {
		return cmp.Or(cmp.Compare(a.prefix, b.prefix), byValue(a.value, b.value))
	})
	at, _ := slices.BinarySearchFunc(others, texts[0].value, byValue)
	sorted := make([]uint32, 0, len(values))
	sorted = append(sorted, others[:at]...)
	for _, t := range texts {
		sorted = append(sorted, t.value)
	}
	sorted = append(sorted, others[at:]...)
	if hasSymbols(values, others) {
		slices.SortFunc(sorted, byValue) // symbols compare with texts: they belong between them
	}
	return sorted
}

// textPrefix is the beginning of a BSON string, ordered as its bytes are.
func textPrefix(value []byte) uint64 {
	var head [8]byte
	if len(value) > 4 {
		copy(head[:], value[4:len(value)-1]) // length before, zero byte behind
	}
	return binary.BigEndian.Uint64(head[:])
}

func hasSymbols(values []raw.Value, numbers []uint32) bool {
	return slices.ContainsFunc(numbers, func(n uint32) bool { return values[n].Raw.Type == bson.TypeSymbol })
}
