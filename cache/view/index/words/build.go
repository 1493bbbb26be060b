package words

import (
	"encoding/binary"
	"maps"
	"slices"

	"vitrine/rules/fold"
	"vitrine/rules/parallel"
)

// buildPart is the fewest rows for which a goroutine is worthwhile.
const buildPart = 1024

// Build indexes the words of rows on up to workers goroutines. read calls add with each text, and whether it is a
// title.
func Build(rows, workers int, read func(row int, add func(text string, title bool))) *Index {
	workers = max(1, min(workers, rows/buildPart))
	parts := make([]part, workers)
	parallel.Split(rows, workers, func(w, from, to int) { parts[w] = readPart(read, from, to) })
	for _, next := range parts[1:] {
		for word, rows := range next {
			if before, known := parts[0][word]; known {
				*before = append(*before, *rows...)
			} else {
				parts[0][word] = rows
			}
		}
	}
	return parts[0].pack(rows)
}

// part has for each word the rows with it, in order, each as twice its number, plus one if the word is in its title.
type part map[string]*[]uint32

// readPart reads the rows [from, to) on one goroutine. read yields the texts of a row in any order, and a word that
// a title and another text have counts as one of the title.
func readPart(read func(row int, add func(text string, title bool)), from, to int) part {
	p := make(part)
	var folder fold.Folder
	var row, inTitle uint32
	note := func(word []byte) {
		rows, known := p[string(word)]
		if !known {
			rows = new([]uint32)
			p[string(word)] = rows
		}
		if last := len(*rows) - 1; last >= 0 && (*rows)[last]>>1 == row {
			(*rows)[last] |= inTitle
			return
		}
		*rows = append(*rows, row<<1|inTitle)
	}
	add := func(text string, title bool) {
		inTitle = 0
		if title {
			inTitle = 1
		}
		folder.Each(text, note)
	}
	for i := from; i < to; i++ {
		row = uint32(i)
		read(i, add)
	}
	return p
}

// Words in more than one of denseShare rows are kept as sets. The two sets of n rows take n/4 bytes, which is up to
// eight times the list, but they unite 64 rows at a time.
const denseShare = 32

// pack lays out the words of n rows. It writes each list first, and makes sets from it if it is long.
func (p part) pack(n int) *Index {
	words := slices.Sorted(maps.Keys(p))
	x := &Index{starts: make([]uint32, 1, len(words)+1), ends: make([]uint32, 1, len(words)+1),
		dense: make(map[int]rowSets)}
	for i, word := range words {
		x.text = append(x.text, word...)
		x.starts = append(x.starts, uint32(len(x.text)))
		list, before := len(x.lists), uint32(0)
		for _, row := range *p[word] {
			x.lists = binary.AppendUvarint(x.lists, uint64(row>>1-before)<<1|uint64(row&1))
			before = row >> 1
		}
		x.ends = append(x.ends, uint32(len(x.lists)))
		if len(*p[word]) > max(n/denseShare, 64) {
			sets := rowSets{make([]uint64, (n+63)/64), make([]uint64, (n+63)/64)}
			x.Mark(i, 0, sets.all, sets.titles)
			x.dense[i] = sets
			x.lists = x.lists[:list]
			x.ends[i+1] = uint32(list)
		}
	}
	x.text, x.lists = slices.Concat(x.text), slices.Concat(x.lists) // clip spare capacity
	return x
}
