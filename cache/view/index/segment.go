package index

import (
	"context"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/cache/view/mapped"
	"vitrine/rules/lru"
	"vitrine/rules/parallel"
)

// segment is an immutable batch of rows. The budget bounds the values derived from them, and has them until the
// segment is replaced.
//
// The rows are sorted by the view's order, and their number never changes. Everything else that is mutable is
// atomic, guarded by a sync.Once, or guarded by the budget: segments are shared by tables, and tables by requests.
// Only workers is not: Builder.Warm changes it before a table with the segment is shown.
type segment struct {
	budget  *Budget
	def     *Definition
	files   *mapped.Files
	rows    []bson.Raw
	nap     func()                    // rests beside requests
	workers int                       // goroutines that derive values; fewer while the segment is warmed
	wanted  atomic.Pointer[time.Time] // when a request last needed a value that is not built; nil if none has
	frags   []fragments               // one for each of Definition.Fragments
	bulk    int64                     // bytes of bulky fragments kept; guarded by the budget
	// ownValues are the values that requests derive after the segment was replaced; in the budget they would keep the
	// segment in memory. It is nil before, and guarded by the budget.
	ownValues *lru.Cache[derivedKey, derivedOf]
}

// hurry is how long values are derived without rest after a request needed one. A request that waits for one value
// may soon need another one: the next path of its filter.
const hurry = 2 * time.Second

// rest is called while values are derived from all rows. It sleeps now and then unless a request waits for them.
// Without the sleep, a refresh that indexes a million rows would delay every request, as package fair explains at
// Rest.
func (s *segment) rest() {
	if wanted := s.wanted.Load(); wanted == nil || time.Since(*wanted) > hurry {
		s.nap()
	}
}

// fragments returns the fragments at a position in the definition, which need not be encoded yet.
func (s *segment) fragments(number int) *fragments {
	f, def := &s.frags[number], &s.def.Fragments[number]
	if !def.Bulky {
		f.once.Do(func() {
			f.begin(len(s.rows), len(def.parts()))
			f.groups = make([]group, (len(f.blocks)+groupBlocks-1)/groupBlocks)
		})
	}
	return f
}

// fragment returns parts [from, to) of a row's fragment. The first few of a group are encoded for the caller only.
//
// A page of a list has few rows of many groups. If each page encoded whole groups, the first pages after a refresh
// would encode nearly the whole view. So a group is encoded once mostMissed of its fragments were asked for.
func (s *segment) fragment(at place, row int) []byte {
	f, block := s.fragments(at.number), row/blockRows
	if !f.has(block) {
		if f.groups == nil || f.groups[block/groupBlocks].missed.Add(1) <= mostMissed {
			var text []byte
			for _, part := range s.def.Fragments[at.number].parts()[at.from:at.to] {
				text = part.Encode(text, s.rows[row])
			}
			return text
		}
		s.encode(at.number, block/groupBlocks)
	}
	return f.of(row, at.from, at.to)
}

// encode encodes a group of fragments that are not bulky, once. Concurrent callers wait for the first one. The
// blocks are moved into a file before ready is set: a reader sees either none of the blocks, or those that stay.
func (s *segment) encode(number, g int) {
	f := s.fragments(number)
	f.groups[g].once.Do(func() {
		parts, from := s.def.Fragments[number].parts(), g*groupBlocks
		to := min(from+groupBlocks, len(f.blocks))
		var scratch []byte
		for b := from; b < to; b++ {
			scratch = f.encode(b, s.rows, parts, scratch)
			s.rest()
		}
		mapped.Move(s.files, f.blocks[from:to])
		f.groups[g].ready.Store(true)
		f.used.Store(true)
	})
}

// prepared encodes all fragments at a position in the definition, on up to workers goroutines. Groups that requests
// encode at the same time are encoded once, and both wait for them.
func (s *segment) prepared(number, workers int) {
	n := len(s.fragments(number).groups)
	parallel.Split(n, min(workers, n), func(_, from, to int) {
		for ; from < to; from++ {
			s.encode(number, from)
		}
	})
}

// prepare encodes at most so many blocks of bulky fragments in the context's turn, and returns false if there is no
// room for all. Concurrent callers share the blocks; each stops when its own context ends. If most covers all blocks,
// prepare waits for those that other callers encode.
//
// Bulky fragments never lie in a file, and the budget counts them against a limit of their own. The estimate is
// made once: if there is no room then, there is none for the life of the segment.
//
// A panic in Encode, as when mapped rows are lost, leaves a block that is never encoded. The filling is then
// broken, and prepare returns false, as without room.
func (s *segment) prepare(ctx context.Context, number, most int) (bool, error) {
	f, parts := &s.frags[number], s.def.Fragments[number].parts()
	if f.filled.Load() || len(s.rows) == 0 {
		return true, nil
	}
	f.once.Do(func() {
		if s.budget.keepBulk(s, s.estimate(parts[0].Encode)) {
			f.begin(len(s.rows), 1)
			f.filling = &filling{filled: make(chan struct{}), blocks: make([]atomic.Bool, len(f.blocks))}
			f.filling.left.Store(int64(len(f.blocks)))
		}
	})
	if f.filling == nil || f.filling.broken.Load() {
		return false, nil
	}
	// Others wait for the blocks that this caller has begun, so it goes before work that has used less time.
	defer fair.TurnOf(ctx).Share()()
	err := fair.Each(ctx, min(most, len(f.blocks)), func(int) error {
		b := int(f.filling.begun.Add(1)) - 1
		if b >= len(f.blocks) {
			return nil
		}
		defer f.filling.encoded(b)
		f.encode(b, s.rows, parts, nil)
		f.filling.blocks[b].Store(true)
		if f.filling.left.Add(-1) == 0 {
			f.filled.Store(true)
			close(f.filling.filled)
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	// The caller wanted only some of the blocks: those that it has begun are encoded.
	if most < len(f.blocks) {
		return true, nil
	}
	select {
	case <-f.filling.filled: // other callers are still encoding the last blocks
		return !f.filling.broken.Load(), nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}

// estimateRows is the number of rows whose fragments estimate encodes.
const estimateRows = 64

// estimate estimates how many bytes the fragments of all rows take. It takes rows at equal distances: the rows are
// sorted, by year for example, and older records are often shorter.
func (s *segment) estimate(encode func(dst []byte, row bson.Raw) []byte) int64 {
	step := max(len(s.rows)/estimateRows, 1)
	var sample []byte
	for i := 0; i < len(s.rows); i += step {
		sample = encode(sample, s.rows[i])
	}
	return int64(len(sample)) * int64(step)
}
