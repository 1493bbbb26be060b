package index

import (
	"runtime"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/parallel"
)

// segment is an immutable batch of rows. The budget keeps what is derived from them.
type segment struct {
	budget *Budget
	def    *Definition
	number uint64 // among all of the budget
	rows   []bson.Raw
	frags  []fragments // one per Definition.Fragments
	bulk   int64       // bytes of bulky fragments kept, -1 once replaced; guarded by the budget
}

// newSegment makes a segment of rows in the given order.
func (b *Builder) newSegment(rows []bson.Raw) *segment {
	return &segment{budget: b.budget, def: b.def, number: b.budget.segments.Add(1), rows: rows, frags: make([]fragments, len(b.def.Fragments))}
}

// prepared returns the fragments of one kind, encoded on first use.
func (s *segment) prepared(kind int) *fragments {
	f, def := &s.frags[kind], &s.def.Fragments[kind]
	if f.ready.Load() {
		return f
	}
	f.once.Do(func() {
		var keep func(size int) bool
		if def.Bulky {
			limit := s.budget.bulkLimitOf(s.estimate(def.Encode))
			keep = func(size int) bool { return s.budget.keepBulk(s, int64(size), limit) }
		}
		parts := def.parts()
		f.fill(len(s.rows), len(parts), func(dst []byte, row, part int) []byte {
			return parts[part].Encode(dst, s.rows[row])
		}, keep)
	})
	return f
}

// estimated is of how many rows estimate encodes the fragments.
const estimated = 64

// estimate returns about how many bytes the fragments of all rows take.
func (s *segment) estimate(encode func(dst []byte, row bson.Raw) []byte) int64 {
	step := max(len(s.rows)/estimated, 1)
	var sample []byte
	for i := 0; i < len(s.rows); i += step {
		sample = encode(sample, s.rows[i])
	}
	return int64(len(sample)) * int64(step)
}

// inParallel splits [0, n) into one stretch per processor, runs work on all of
// them and waits. Stretches shorter than least are not worth a goroutine.
func inParallel(n, least int, work func(from, to int)) {
	parallel.Split(n, min(runtime.GOMAXPROCS(0), n/least+1), func(_, from, to int) { work(from, to) })
}
