package similar

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
)

// Blocks of titles between two of which a caller may let other work run: rough bounds take nanoseconds for each
// title, comparisons up to some hundred microseconds.
const roughBlock, block = 1024, 8

// Each calls work for 0, 1, … n-1, in this order or on several goroutines that begin in it, and ends at the first
// error, of work or of its own. The caller decides how many processors that takes, and when to wait in between.
type Each = func(n int, work func(i int) error) error

// errHopeless ends a search early: no later title can be better.
var errHopeless = errors.New("similar: no later title can be better")

// Closest returns the title with the largest number of characters that match the given one, or the first of several:
// its position, that number, and the similarity in percent, before Report. If no title has a character in common with
// it, the position is -1 and the other results are 0. The error is that of each.
func (c *Corpus) Closest(title string, each Each) (index, matches int, percent float64, err error) {
	s := &search{
		corpus: c, query: newQuery(cut([]rune(NormalizeQuery(title)))),
		bounds: make([]uint16, c.Len()), order: make([]uint32, c.Len()),
	}
	s.best.Store(scoreOf(0, 0))
	if err = s.share(each, roughBlock, s.boundRoughly); err == nil {
		s.sort()
		err = s.share(each, block, s.compare)
	}
	if err != nil && !errors.Is(err, errHopeless) {
		return -1, 0, 0, fmt.Errorf("similar: closest of %d titles: %w", c.Len(), err)
	}
	index, matches = unpack(s.best.Load())
	if matches == 0 {
		return -1, 0, 0, nil
	}
	return index, matches, percentOf(matches, s.query.length, len(c.title(index))), nil
}

type search struct {
	corpus *Corpus
	query  *query
	bounds []uint16      // by title: an upper bound of its matching characters
	order  []uint32      // titles in descending order of their bounds, then by position
	best   atomic.Uint64 // the highest score so far

	workers sync.Pool // of *worker
}

// share calls work for all titles, one block at a time.
func (s *search) share(each Each, block int, work func(from, to int) error) error {
	titles := s.corpus.Len()
	return each((titles+block-1)/block, func(i int) error { return work(i*block, min((i+1)*block, titles)) })
}

// worker is the scratch space of one goroutine of a search.
type worker struct {
	row   []uint64 // for subsequence
	pair  *pair
	title []rune // the title that pair compares
}

func (s *search) boundRoughly(from, to int) error {
	for i := from; i < to; i++ {
		s.bounds[i] = uint16(s.query.roughBound(len(s.corpus.title(i)), &s.corpus.grams[i]))
	}
	return nil
}

// sort fills order, by counting: a bound is at most maxLength.
func (s *search) sort() {
	var starts [maxLength + 2]int
	for _, b := range s.bounds {
		starts[maxLength-b+1]++
	}
	for i := 1; i < len(starts); i++ {
		starts[i] += starts[i-1]
	}
	for i, b := range s.bounds {
		at := &starts[maxLength-b]
		s.order[*at] = uint32(i)
		*at++
	}
}

// compare looks for a better title in a block of order. The titles begin with the most promising ones, whose scores
// rule out most of the others.
func (s *search) compare(from, to int) error {
	w, _ := s.workers.Get().(*worker)
	if w == nil {
		w = &worker{row: make([]uint64, s.query.words), pair: s.query.newPair(s.corpus.longest)}
	}
	defer s.workers.Put(w)
	for _, i := range s.order[from:to] {
		index := int(i)
		if s.hopeless(int(s.bounds[i]), index) {
			return errHopeless // as are all later titles in order
		}
		_, enough := unpack(s.best.Load())
		if !s.hopeless(s.query.subsequence(s.corpus.title(index), enough, w.row), index) {
			s.score(w, index)
		}
	}
	return nil
}

// hopeless reports whether a title with at most bound matching characters cannot be better than the best so far.
func (s *search) hopeless(bound, index int) bool { return scoreOf(bound, index) <= s.best.Load() }

// score compares a title exactly and keeps it if it is the best so far.
func (s *search) score(w *worker, index int) {
	w.title = s.corpus.characters(index, w.title)
	found := scoreOf(w.pair.matches(s.query, w.title), index)
	for {
		best := s.best.Load()
		if found <= best || s.best.CompareAndSwap(best, found) {
			return
		}
	}
}

// scoreOf returns the score of the title at index. A higher score is better: first by matching characters, then by
// position, the first title above the last.
func scoreOf(matches, index int) uint64 {
	return uint64(matches)<<32 | uint64(math.MaxUint32-uint32(index))
}

// unpack is the inverse of scoreOf.
func unpack(score uint64) (index, matches int) {
	return int(math.MaxUint32 - uint32(score)), int(score >> 32)
}
