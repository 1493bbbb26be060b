package words

import (
	"bytes"
	"encoding/binary"
	"sort"
	"unsafe"
)

// Index says which of some rows have a word. It is immutable, and made by Build, Join or FromParts.
type Index struct {
	text   []byte   // the words, sorted, one after the other
	starts []uint32 // word i is text[starts[i]:starts[i+1]]
	lists  []byte   // the rows of words, one list after the other
	ends   []uint32 // the list of word i is lists[ends[i]:ends[i+1]]
	dense  map[int]rowSets
}

// rowSets are the rows with a word, and those with it in their title. Words in many rows have them in place of a
// list.
type rowSets struct{ all, titles []uint64 }

// Memory returns the bytes that the index holds.
func (x *Index) Memory() int64 {
	bytes := int64(unsafe.Sizeof(*x)) + int64(cap(x.text)+cap(x.lists)) + 4*int64(cap(x.starts)+cap(x.ends))
	for _, sets := range x.dense {
		bytes += 8*int64(len(sets.all)+len(sets.titles)) + 128
	}
	return bytes
}

// Find returns the range [from, to) of the words that are the term or, if prefix is true, begin with it.
func (x *Index) Find(term string, prefix bool) (from, to int) {
	word := func(i int) []byte { return x.text[x.starts[i]:x.starts[i+1]] }
	n, key := len(x.starts)-1, []byte(term)
	from = sort.Search(n, func(i int) bool { return bytes.Compare(word(i), key) >= 0 })
	to = from + sort.Search(n-from, func(i int) bool {
		return !bytes.HasPrefix(word(from+i), key) || !prefix && len(word(from+i)) > len(key)
	})
	return from, to
}

// Mark sets the bits of the rows that have a word, counted from base, in all, and those of the rows that have it in
// their title in titles.
//
// The bits that are set stay, so that the rows of several words are united in the same sets. Most distances take
// one byte, which is decoded without a call.
func (x *Index) Mark(word int, base uint32, all, titles []uint64) {
	if sets, ok := x.dense[word]; ok {
		unite(all, sets.all, base)
		unite(titles, sets.titles, base)
		return
	}
	list := x.lists[x.ends[word]:x.ends[word+1]]
	for row := base; len(list) > 0; {
		step, n := uint64(list[0]), 1
		if step >= 0x80 {
			step, n = binary.Uvarint(list)
		}
		list = list[n:]
		row += uint32(step >> 1)
		all[row/64] |= 1 << (row % 64)
		titles[row/64] |= step & 1 << (row % 64)
	}
}

// unite adds a set to another. Bits of set count from base.
func unite(into, set []uint64, base uint32) {
	into = into[base/64:]
	for i, bits := range set {
		into[i] |= bits << (base % 64)
		if over := bits >> (64 - base%64); over != 0 {
			into[i+1] |= over
		}
	}
}
