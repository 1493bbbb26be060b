package index

import (
	"bytes"
	"hash/maphash"

	"vitrine/rules/raw"
)

// numbering numbers distinct values in the order in which it first sees them. Two values are the same if they have the
// same type and bytes, and both or neither are elements of arrays. It copies no values: it finds numbers by hash, and
// compares values with equal hashes.
type numbering struct {
	seed   maphash.Seed
	heads  map[uint64]uint32 // by hash: the newest value with it, plus one
	values []raw.Value
	chain  []uint32 // the next older value with the same hash, plus one; 0 if there is none
}

func newNumbering() *numbering {
	return &numbering{seed: maphash.MakeSeed(), heads: make(map[uint64]uint32)}
}

func (n *numbering) of(v raw.Value) (number uint32, fresh bool) {
	hash := maphash.Bytes(n.seed, v.Raw.Value) ^ uint64(v.Raw.Type)<<8 ^ uint64(truth(v.Elem))
	newest := n.heads[hash]
	for at := newest; at != 0; at = n.chain[at-1] {
		if same(&n.values[at-1], &v) {
			return at - 1, false
		}
	}
	number = uint32(len(n.values))
	n.values = append(n.values, v)
	n.chain = append(n.chain, newest)
	n.heads[hash] = number + 1
	return number, true
}

func same(a, b *raw.Value) bool {
	return a.Raw.Type == b.Raw.Type && a.Elem == b.Elem && a.Missing == b.Missing && bytes.Equal(a.Raw.Value, b.Raw.Value)
}
