package words

import (
	"encoding/binary"
	"iter"
	"maps"
	"math/bits"
	"slices"

	"vitrine/rules/raw"
)

// Parts returns the index as pieces of bytes for FromParts. They are the index's own memory, and must not be
// changed.
func (x *Index) Parts() [][]byte {
	var dense []uint32
	var sets []byte
	for _, word := range slices.Sorted(maps.Keys(x.dense)) {
		dense = append(dense, uint32(word))
		sets = append(append(sets, raw.Bytes(x.dense[word].all)...), raw.Bytes(x.dense[word].titles)...)
	}
	return [][]byte{x.text, raw.Bytes(x.starts), x.lists, raw.Bytes(x.ends), raw.Bytes(dense), sets}
}

// FromParts returns the index that Parts took apart. It keeps the pieces, and panics if they are not those of an
// index.
func FromParts(p [][]byte) *Index {
	x := &Index{text: p[0], starts: raw.Numbers[uint32](p[1]), lists: p[2], ends: raw.Numbers[uint32](p[3]),
		dense: make(map[int]rowSets)}
	dense, sets := raw.Numbers[uint32](p[4]), raw.Numbers[uint64](p[5])
	for i, word := range dense {
		size := len(sets) / len(dense) / 2
		both := sets[2*i*size : 2*(i+1)*size]
		x.dense[int(word)] = rowSets{both[:size], both[size:]}
	}
	return x
}

// Join returns an index of n rows from indexes of some of them. move returns the number of an index's row among all,
// and false to leave the row out.
//
// It needs no text of any row: a fold of segments and the file of indexes are made from what is known.
func Join(n int, indexes []*Index, move func(index int, row uint32) (uint32, bool)) *Index {
	p := make(part)
	for i, x := range indexes {
		for word := range len(x.starts) - 1 {
			var moved []uint32
			for row, inTitle := range x.rowsOf(word) {
				if to, live := move(i, row); live {
					moved = append(moved, to<<1|inTitle)
				}
			}
			if text := string(x.text[x.starts[word]:x.starts[word+1]]); p[text] != nil {
				*p[text] = append(*p[text], moved...)
			} else if moved != nil {
				p[text] = &moved
			}
		}
	}
	for _, rows := range p {
		slices.Sort(*rows)
	}
	return p.pack(n)
}

// rowsOf yields the rows that have a word, each with 1 if the word is in its title, and otherwise with 0.
func (x *Index) rowsOf(word int) iter.Seq2[uint32, uint32] {
	return func(yield func(row, inTitle uint32) bool) {
		sets := x.dense[word]
		for i, rest := range sets.all {
			for ; rest != 0; rest &= rest - 1 {
				bit := bits.TrailingZeros64(rest)
				if !yield(uint32(64*i+bit), uint32(sets.titles[i]>>bit&1)) {
					return
				}
			}
		}
		row := uint64(0)
		for list := x.lists[x.ends[word]:x.ends[word+1]]; len(list) > 0; {
			step, n := binary.Uvarint(list)
			row, list = row+step>>1, list[n:]
			if !yield(uint32(row), uint32(step&1)) {
				return
			}
		}
	}
}
