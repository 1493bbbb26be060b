package words

import (
	"bytes"
	"encoding/binary"
	"sort"
	"unsafe"
)

// Index says which of some rows have a word.
type Index struct {
	text   []byte   // the words, sorted, one after the other
	starts []uint32 // word i is text[starts[i]:starts[i+1]]
	lists  []byte   // the words' rows, one list after the other
	ends   []uint32 // the list of word i is lists[ends[i]:ends[i+1]]
}

// Memory returns the bytes that the index holds.
func (x *Index) Memory() int64 {
	return int64(unsafe.Sizeof(*x)) + int64(cap(x.text)+cap(x.lists)) + 4*int64(cap(x.starts)+cap(x.ends))
}

// Len returns the number of words.
func (x *Index) Len() int { return len(x.starts) - 1 }

// word returns a word by its number.
func (x *Index) word(i int) []byte { return x.text[x.starts[i]:x.starts[i+1]] }

// Find returns the numbers of the words, from one up to another, that are the term or, if
// prefix is true, begin with it.
func (x *Index) Find(term string, prefix bool) (from, to int) {
	key := unsafe.Slice(unsafe.StringData(term), len(term))
	from = sort.Search(x.Len(), func(i int) bool { return bytes.Compare(x.word(i), key) >= 0 })
	if !prefix {
		if from < x.Len() && string(x.word(from)) == term {
			return from, from + 1
		}
		return from, from
	}
	n := sort.Search(x.Len()-from, func(i int) bool { return !bytes.HasPrefix(x.word(from+i), key) })
	return from, from + n
}

// Rows calls yield with each row that has a word, in order, and whether it has the word in
// its title.
func (x *Index) Rows(word int, yield func(row uint32, title bool)) {
	list := x.lists[x.ends[word]:x.ends[word+1]]
	row := uint32(0)
	for len(list) > 0 {
		step, n := uint64(list[0]), 1
		if step >= 0x80 {
			step, n = binary.Uvarint(list)
		}
		list = list[n:]
		row += uint32(step >> 1)
		yield(row, step&1 != 0)
	}
}
