package words

import (
	"encoding/binary"
	"slices"

	"vitrine/rules/parallel"
)

// buildPart is the least number of rows worth a goroutine of its own.
const buildPart = 1024

// Reader calls add with the words of a row, as often as it has them. A word is not read
// after add has returned.
type Reader func(row int, add func(word []byte, title bool))

// Build indexes rows on up to so many goroutines, each with a reader of its own.
func Build(rows, workers int, reader func() Reader) *Index {
	workers = max(1, min(workers, rows/buildPart))
	parts := make([]*part, workers)
	parallel.Split(rows, workers, func(w, from, to int) {
		parts[w] = &part{numbers: make(map[string]uint32)}
		parts[w].read(reader(), from, to)
	})
	return pack(parts)
}

// part is a stretch of the rows with their words.
type part struct {
	words    []string          // in the order in which they are first met
	numbers  map[string]uint32 // of the words
	last     []int             // per word, the posting noted last
	postings []posting         // by row
}

// posting notes that a row has the word with that number.
type posting struct {
	word uint32
	row  uint32 // doubled, and one more if the word is in the title
}

func (p *part) read(read Reader, from, to int) {
	row := uint32(0)
	add := func(word []byte, title bool) {
		n, known := p.numbers[string(word)]
		if !known {
			n = uint32(len(p.words))
			text := string(word)
			p.words, p.last = append(p.words, text), append(p.last, -1)
			p.numbers[text] = n
		}
		if at := p.last[n]; at < 0 || p.postings[at].row>>1 != row {
			p.last[n] = len(p.postings)
			p.postings = append(p.postings, posting{n, row << 1})
		}
		if title {
			p.postings[p.last[n]].row |= 1
		}
	}
	for i := from; i < to; i++ {
		row = uint32(i)
		read(i, add)
	}
}

// pack joins the parts, whose rows follow each other.
func pack(parts []*part) *Index {
	var all []string
	for _, p := range parts {
		all = append(all, p.words...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	x := &Index{starts: make([]uint32, 1, len(all)+1), ends: make([]uint32, 1, len(all)+1)}
	size := 0
	for _, word := range all {
		size += len(word)
	}
	x.text = make([]byte, 0, size)
	for _, word := range all {
		x.text = append(x.text, word...)
		x.starts = append(x.starts, uint32(len(x.text)))
	}
	rows, ends := byWord(parts, all)
	from := 0
	var lists []byte
	for _, end := range ends {
		before := uint32(0)
		for _, row := range rows[from:end] {
			lists = binary.AppendUvarint(lists, uint64(row>>1-before)<<1|uint64(row&1))
			before = row >> 1
		}
		x.ends = append(x.ends, uint32(len(lists)))
		from = end
	}
	x.lists = append(make([]byte, 0, len(lists)), lists...)
	return x
}

// byWord lays the rows of each of the words, which are sorted, out behind each other, and
// returns where those of each word end.
func byWord(parts []*part, words []string) (rows []uint32, ends []int) {
	counts := make([]int, len(words)+1) // of word i at i+1
	total := 0
	for _, p := range parts {
		for n, word := range p.words {
			at, _ := slices.BinarySearch(words, word)
			p.last[n] = at // from here on the word's place
		}
		for _, posting := range p.postings {
			counts[p.last[posting.word]+1]++
		}
		total += len(p.postings)
	}
	for i := range words {
		counts[i+1] += counts[i]
	}
	rows = make([]uint32, total)
	for _, p := range parts {
		for _, posting := range p.postings {
			at := &counts[p.last[posting.word]]
			rows[*at] = posting.row
			*at++
		}
	}
	return rows, counts[:len(words)]
}
