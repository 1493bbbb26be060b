package words

import (
	"encoding/binary"
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

// part is a stretch of the rows with their words.
type part struct {
	words    []string // in the order in which they are first met
	postings []posting
}

// posting records that a row has a word, by the word's number. row is twice the number of
// the row, plus one if the word is in the title.
type posting struct{ word, row uint32 }

// usualWords is about how many words a row has.
const usualWords = 24

func (p *part) read(read func(row int, add func(text string, title bool)), from, to int) {
	p.postings = make([]posting, 0, (to-from)*usualWords)
	var folder fold.Folder
	numbers := make(map[string]uint32)
	var last []int // per word, where its last posting is, plus one
	var row uint32
	var inTitle bool
	note := func(word []byte) {
		n, known := numbers[string(word)]
		if !known {
			n = uint32(len(p.words))
			p.words, last = append(p.words, string(word)), append(last, 0)
			numbers[p.words[n]] = n
		}
		if at := last[n]; at == 0 || p.postings[at-1].row>>1 != row {
			p.postings = append(p.postings, posting{n, row << 1})
			last[n] = len(p.postings)
		}
		if inTitle {
			p.postings[last[n]-1].row |= 1
		}
	}
	add := func(text string, title bool) {
		inTitle = title
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
	for i := range parts {
		words = append(words, parts[i].words...)
	}
	slices.Sort(words)
	words = slices.Compact(words)
	x := &Index{starts: make([]uint32, 1, len(words)+1), ends: make([]uint32, 1, len(words)+1), dense: make(map[int]rowSets)}
	rows, ends := byWord(parts, words)
	for i, from := 0, 0; i < len(words); i++ {
		x.text = append(x.text, words[i]...)
		x.starts = append(x.starts, uint32(len(x.text)))
		list := len(x.lists)
		before := uint32(0)
		for _, row := range rows[from:ends[i]] {
			x.lists = binary.AppendUvarint(x.lists, uint64(row>>1-before)<<1|uint64(row&1))
			before = row >> 1
		}
		x.ends = append(x.ends, uint32(len(x.lists)))
		if ends[i]-from > max(n/denseShare, 64) {
			sets := rowSets{make([]uint64, n/64+1), make([]uint64, n/64+1)}
			x.Mark(i, 0, sets.all, sets.titles)
			x.dense[i] = sets
			x.lists = x.lists[:list]
			x.ends[i+1] = uint32(list)
		}
		from = ends[i]
	}
	x.text, x.lists = slices.Concat(x.text), slices.Concat(x.lists) // without room to grow
	return x
}

// byWord returns the rows of all words, which are sorted, one word after the other, and where
// those of each word end.
func byWord(parts []part, words []string) (rows []uint32, ends []int) {
	starts := make([]int, len(words)+1) // of the rows of word i; first their number, at i+1
	total := 0
	for _, p := range parts {
		places := make([]uint32, len(p.words))
		for n, word := range p.words {
			at, _ := slices.BinarySearch(words, word)
			places[n] = uint32(at)
		}
		for i := range p.postings {
			p.postings[i].word = places[p.postings[i].word]
			starts[p.postings[i].word+1]++
		}
		total += len(p.postings)
	}
	for i := range words {
		starts[i+1] += starts[i]
	}
	rows = make([]uint32, total)
	for _, p := range parts {
		for _, posting := range p.postings {
			rows[starts[posting.word]] = posting.row
			starts[posting.word]++
		}
	}
	return rows, starts // each is where the next began
}
