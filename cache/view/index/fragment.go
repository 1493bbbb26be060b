package index

import (
	"context"
	"sync"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
)

// Fragment is a prepared piece of text, mostly JSON, that responses are joined from.
type Fragment struct {
	Name string
	// Encode appends the row's piece to dst and returns it. It must be pure: it is
	// called once per row version, from several goroutines.
	Encode func(dst []byte, row bson.Raw) []byte
	// Parts, where given, make up the fragment, one after the other, and Encode is
	// nil. A part is a fragment as well, unless it has no name, and takes no memory of
	// its own. Parts have no parts.
	Parts []Fragment
	// Bulky fragments are about as large as their rows. Table.Prepare measures them, and
	// keeps them as far as the budget allows; the others are encoded each time. They have
	// no parts, and only Selection.Prepared and Row.AppendFragment return them.
	Bulky bool
}

// parts are what is encoded for a row, one after the other.
func (f *Fragment) parts() []Fragment {
	if f.Parts == nil {
		return []Fragment{*f}
	}
	return f.Parts
}

// place says where a fragment is: which of the definition's it is, and which
// of its parts from and up to.
type place struct{ kind, from, to int }

// places lists every fragment of a definition, parts included, by name.
func places(fragments []Fragment) map[string]place {
	at := make(map[string]place)
	for kind := range fragments {
		parts := fragments[kind].parts()
		for p := range parts {
			if parts[p].Name != "" {
				at[parts[p].Name] = place{kind, p, p + 1}
			}
		}
		at[fragments[kind].Name] = place{kind, 0, len(parts)}
	}
	return at
}

// blockRows is how many rows share a block of fragments: enough that a whole view
// is sent in a few large writes, few enough that no block is a burden to the allocator.
const blockRows = 128

// fragments holds one kind's fragments of a segment's rows. They lie one after the
// other, so that those of consecutive rows are one piece of memory, in blocks of a
// fixed number of rows.
type fragments struct {
	once   sync.Once
	ready  atomic.Bool
	begun  atomic.Int64  // blocks that a goroutine encodes or has encoded
	left   atomic.Int64  // blocks that are not encoded yet
	filled chan struct{} // closed when there are none
	keep   func(size int) bool
	parts  int
	blocks [][]byte // nil for bulky ones that are not kept
	ends   []uint32 // where in its block part p of row i ends: ends[i*parts+p]
}

// begin makes room for the parts of so many rows.
func (f *fragments) begin(rows, parts int) {
	f.parts = parts
	f.blocks = make([][]byte, (rows+blockRows-1)/blockRows)
	f.ends = make([]uint32, rows*parts)
}

// fill encodes the parts of all rows into blocks.
func (f *fragments) fill(rows, parts int, encode encoder) {
	f.begin(rows, parts)
	inParallel(len(f.blocks), 2, func(from, to int) {
		var scratch []byte
		for b := from; b < to; b++ {
			scratch = f.encode(b, scratch, encode, nil)
		}
	})
	f.ready.Store(true)
}

// encoder appends a part of the fragment of a row.
type encoder = func(dst []byte, row, part int) []byte

// encode encodes a block, and keeps it if keep is nil or accepts its size. It returns its scratch
// memory.
func (f *fragments) encode(b int, scratch []byte, encode encoder, keep func(size int) bool) []byte {
	scratch = scratch[:0]
	for row := b * blockRows; row < min((b+1)*blockRows, len(f.ends)/f.parts); row++ {
		for part := range f.parts {
			scratch = encode(scratch, row, part)
			f.ends[row*f.parts+part] = uint32(len(scratch))
		}
	}
	if keep == nil || keep(len(scratch)) {
		f.blocks[b] = append(make([]byte, 0, len(scratch)), scratch...)
	}
	return scratch
}

// fillInTurn is fill for fragments that take long, in the context's turn. It keeps the blocks
// whose size the function that keeps returns accepts. Concurrent callers divide the blocks
// among them; each ends with its own context.
func (f *fragments) fillInTurn(ctx context.Context, rows int, encode encoder, keeps func() func(size int) bool) error {
	f.once.Do(func() {
		f.begin(rows, 1)
		f.keep = keeps()
		f.left.Store(int64(len(f.blocks)))
		f.filled = make(chan struct{})
	})
	defer fair.TurnOf(ctx).Shared()()
	err := fair.Each(ctx, len(f.blocks), func(int) error {
		b := int(f.begun.Add(1)) - 1
		if b >= len(f.blocks) {
			return nil
		}
		f.encode(b, nil, encode, f.keep)
		if f.left.Add(-1) == 0 {
			f.ready.Store(true)
			close(f.filled)
		}
		return nil
	})
	if err != nil {
		return err
	}
	select {
	case <-f.filled: // other callers encode the last blocks at this moment
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// of returns parts [from, to) of a row.
func (f *fragments) of(row, from, to int) []byte {
	end := f.ends[row*f.parts+to-1]
	return f.blocks[row/blockRows][f.start(row, from):end:end]
}

// run returns the whole fragments of rows [from, to), which share a block, or nil
// if it is not kept.
func (f *fragments) run(from, to int) []byte {
	block := f.blocks[from/blockRows]
	if block == nil {
		return nil
	}
	end := f.ends[to*f.parts-1]
	return block[f.start(from, 0):end:end]
}

// size is how long the whole fragments of rows [from, to) are, which share a block.
func (f *fragments) size(from, to int) int {
	return int(f.ends[to*f.parts-1] - f.start(from, 0))
}

// start is where in its block a part of a row begins.
func (f *fragments) start(row, part int) uint32 {
	if part == 0 && row%blockRows == 0 {
		return 0
	}
	return f.ends[row*f.parts+part-1]
}
