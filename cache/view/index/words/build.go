package words

import (
	"encoding/binary"
	"maps"
	"slices"

	"vitrine/rules/fold"
	"vitrine/rules/parallel"
)

// buildPart is the least number of rows worth a goroutine of its own.
const buildPart = 1024

// Build indexes the words of rows on up to so many goroutines. Read calls add with the
// texts of a row, and says of each whether it belongs to the title.
func Build(rows, workers int, read func(row int, add func(text string, title bool))) *Index {
	workers = max(1, min(workers, rows/buildPart))
	parts := make([]part, workers)
	parallel.Split(rows, workers, func(w, from, to int) { parts[w].read(read, from, to) })
	return pack(parts, rows)
}

// part is a stretch of the rows with their words. A row is noted as twice its number, plus one
// if the word is in its title.
type part struct {
	numbers map[string]int // of words, in the order in which they are first met
	rows    [][]uint32     // that have a word, by its number
}

func (p *part) read(read func(row int, add func(text string, title bool)), from, to int) {
	p.numbers = make(map[string]int)
	var folder fold.Folder
	var row, inTitle uint32
	note := func(word []byte) {
		n, known := p.numbers[string(word)]
		if !known {
			n = len(p.rows)
			p.numbers[string(word)], p.rows = n, append(p.rows, nil)
		}
		rows := p.rows[n]
		if last := len(rows) - 1; last >= 0 && rows[last]>>1 == row {
			rows[last] |= inTitle
			return
		}
		p.rows[n] = append(rows, row<<1|inTitle)
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
}

// denseShare is the share of the rows, one in so many, from which a word has sets.
const denseShare = 32

// pack joins the parts, whose rows follow each other; n is how many there are.
func pack(parts []part, n int) *Index {
	var words []string
	for _, p := range parts {
		words = slices.AppendSeq(words, maps.Keys(p.numbers))
	}
	slices.Sort(words)
	words = slices.Compact(words)
	x := &Index{starts: make([]uint32, 1, len(words)+1), ends: make([]uint32, 1, len(words)+1), dense: make(map[int]rowSets)}
	for i, word := range words {
		x.text = append(x.text, word...)
		x.starts = append(x.starts, uint32(len(x.text)))
		list, having, before := len(x.lists), 0, uint32(0)
		for _, p := range parts {
			if number, ok := p.numbers[word]; ok {
				for _, row := range p.rows[number] {
					x.lists = binary.AppendUvarint(x.lists, uint64(row>>1-before)<<1|uint64(row&1))
					before = row >> 1
					having++
				}
			}
		}
		x.ends = append(x.ends, uint32(len(x.lists)))
		if having > max(n/denseShare, 64) {
			sets := rowSets{make([]uint64, n/64+1), make([]uint64, n/64+1)}
			x.Mark(i, 0, sets.all, sets.titles)
			x.dense[i] = sets
			x.lists = x.lists[:list]
			x.ends[i+1] = uint32(list)
		}
	}
	x.text, x.lists = slices.Concat(x.text), slices.Concat(x.lists) // without room to grow
	return x
}
