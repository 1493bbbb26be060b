package view

import (
	"runtime"
	"sync"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// segment is an immutable batch of rows with what is derived from them.
type segment struct {
	rows  []bson.Raw
	frags []fragments // one per Definition.Fragments

	mu      sync.Mutex                // guards derived
	derived map[derivedKey]*derivedOf // path indexes and group columns, on first use
}

// newSegment makes a segment of rows in the given order.
func newSegment(rows []bson.Raw, kinds int) *segment {
	return &segment{rows: rows, frags: make([]fragments, kinds), derived: make(map[derivedKey]*derivedOf)}
}

// fragments is one prepared JSON piece per row of a segment.
type fragments struct {
	once  sync.Once
	ready atomic.Bool
	data  [][]byte
}

// fragmentChunk is the size of the arrays fragments are packed into: large enough
// to spare the garbage collector, small enough to waste little.
const fragmentChunk = 256 << 10

// of returns the row's fragment, encoding those of all rows on first use.
func (f *fragments) of(s *segment, local int, encode func([]byte, bson.Raw) []byte) []byte {
	if !f.ready.Load() {
		f.once.Do(func() { f.build(s.rows, encode) })
	}
	return f.data[local]
}

func (f *fragments) build(rows []bson.Raw, encode func([]byte, bson.Raw) []byte) {
	data := make([][]byte, len(rows))
	inParallel(len(rows), func(from, to int) {
		var chunk []byte
		for i := from; i < to; i++ {
			if cap(chunk)-len(chunk) < 4<<10 {
				chunk = make([]byte, 0, fragmentChunk)
			}
			start := len(chunk)
			chunk = encode(chunk, rows[i])
			data[i] = chunk[start:len(chunk):len(chunk)]
		}
	})
	f.data = data
	f.ready.Store(true)
}

// adopt takes over fragments that were encoded before, for rows that moved here.
func (f *fragments) adopt(data [][]byte) {
	f.once.Do(func() {
		f.data = data
		f.ready.Store(true)
	})
}

// inParallel splits [0, n) into one stretch per processor, runs work on all of
// them and waits. Small ranges are not worth a goroutine.
func inParallel(n int, work func(from, to int)) {
	workers := min(runtime.GOMAXPROCS(0), n/512+1)
	if workers <= 1 {
		work(0, n)
		return
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { work(n*w/workers, n*(w+1)/workers) })
	}
	wg.Wait()
}
