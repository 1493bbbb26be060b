package index

import (
	"sync"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Fragment is a prepared piece of text, mostly JSON, from which responses are joined.
type Fragment struct {
	// Name is unique among the fragments and parts of a view.
	Name string
	// Encode appends the row's piece to dst and returns it. It must be pure: it is
	// called once per row version, from several goroutines.
	Encode func(dst []byte, row bson.Raw) []byte
	// Parts, if set, make up the fragment, one after the other, and Encode is nil. A part with a name is a fragment,
	// too, and takes no memory of its own. Parts have no parts.
	Parts []Fragment
	// Bulky fragments, about as large as their rows, are encoded by Table.Prepare if there is room. They have no
	// parts.
	Bulky bool
}

// parts returns the encoded parts of a fragment in order; a fragment without parts is its own part.
func (f *Fragment) parts() []Fragment {
	if f.Parts == nil {
		return []Fragment{*f}
	}
	return f.Parts
}

// place is a fragment's position in the definition, and the range of its parts.
type place struct{ number, from, to int }

// places lists every fragment of a definition, parts included, by name.
func places(fragments []Fragment) map[string]place {
	at := make(map[string]place)
	for number := range fragments {
		parts := fragments[number].parts()
		for p := range parts {
			if parts[p].Name != "" {
				at[parts[p].Name] = place{number, p, p + 1}
			}
		}
		at[fragments[number].Name] = place{number, 0, len(parts)}
	}
	return at
}

// blockRows is how many rows share a block of fragments: enough that a whole view is sent in a few large writes, but
// few enough that blocks do not burden the allocator.
const blockRows = 128

// fragments holds one fragment for each row of a segment, in blocks of a fixed number of rows. In a block they lie
// one after the other, so that those of consecutive rows are one piece of memory.
type fragments struct {
	once   sync.Once
	parts  int
	blocks [][]byte
	ends   []uint32 // ends[i*parts+p] is the end of part p of row i in its block
	groups []group  // nil if they are bulky
	// used reports whether a group is encoded, because many fragments were read or they are warmed. Other goroutines
	// may read it before once is done.
	used atomic.Bool

	filling *filling // of bulky fragments; nil if there is no room for them
	filled  atomic.Bool
}

// groupBlocks is how many blocks are encoded together, and in memory until they are moved into a file.
const groupBlocks = 64

// group is the progress of groupBlocks blocks.
type group struct {
	once   sync.Once
	ready  atomic.Bool
	missed atomic.Int32 // fragments that were encoded for one caller only
}

// mostMissed is how many fragments of a group are encoded for one caller only, because a page has few rows of many
// groups.
const mostMissed = groupBlocks * blockRows / 16

// has reports whether a block is encoded.
func (f *fragments) has(block int) bool {
	if f.filling != nil {
		return f.filled.Load() || f.filling.blocks[block].Load()
	}
	return f.groups != nil && f.groups[block/groupBlocks].ready.Load()
}

// filling is the progress of concurrent callers that encode bulky fragments.
type filling struct {
	begun  atomic.Int64  // blocks that goroutines have begun to encode
	left   atomic.Int64  // blocks that are not encoded yet
	filled chan struct{} // closed when all blocks are encoded, or after a panic
	blocks []atomic.Bool // whether a block is encoded
	broken atomic.Bool   // encoding a block has panicked, so that it never is
}

// encoded lets waiting callers go on if encoding a block has panicked, as it does if the rows cannot be read.
func (f *filling) encoded(block int) {
	if !f.blocks[block].Load() && !f.broken.Swap(true) {
		close(f.filled)
	}
}

func (f *fragments) begin(rows, parts int) {
	f.parts = parts
	f.blocks = make([][]byte, (rows+blockRows-1)/blockRows)
	f.ends = make([]uint32, rows*parts)
}

// encode encodes the parts of a block of rows. It returns its scratch memory.
func (f *fragments) encode(b int, rows []bson.Raw, parts []Fragment, scratch []byte) []byte {
	scratch = scratch[:0]
	for row := b * blockRows; row < min((b+1)*blockRows, len(rows)); row++ {
		for part := range parts {
			scratch = parts[part].Encode(scratch, rows[row])
			f.ends[row*f.parts+part] = uint32(len(scratch))
		}
	}
	f.blocks[b] = append(make([]byte, 0, len(scratch)), scratch...)
	return scratch
}

func (f *fragments) of(row, from, to int) []byte {
	end := f.ends[row*f.parts+to-1]
	return f.blocks[row/blockRows][f.start(row, from):end:end]
}

// run returns the whole fragments of rows [from, to), which share a block.
func (f *fragments) run(from, to int) []byte {
	end := f.ends[to*f.parts-1]
	return f.blocks[from/blockRows][f.start(from, 0):end:end]
}

// start returns where a part of a row begins in its block.
func (f *fragments) start(row, part int) uint32 {
	if part == 0 && row%blockRows == 0 {
		return 0
	}
	return f.ends[row*f.parts+part-1]
}
