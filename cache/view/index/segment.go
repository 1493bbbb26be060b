package index

import (
	"context"
	"runtime"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/parallel"
)

// segment is an immutable batch of rows. The budget keeps what is derived from them.
type segment struct {
	budget *Budget
	def    *Definition
	rows   []bson.Raw
	frags  []fragments // one per Definition.Fragments
	bulk   int64       // bytes of bulky fragments kept, -1 once replaced; guarded by the budget
}

// prepared returns the fragments of one kind, encoded on first use.
func (s *segment) prepared(kind int) *fragments {
	f, def := &s.frags[kind], &s.def.Fragments[kind]
	switch {
	case f.ready.Load():
	case def.Bulky:
		_ = s.prepare(context.Background(), kind) // does not end
	default:
		parts := def.parts()
		f.once.Do(func() {
			f.fill(len(s.rows), len(parts), func(dst []byte, row, part int) []byte { return parts[part].Encode(dst, s.rows[row]) })
		})
	}
	return f
}

// prepare encodes bulky fragments in the context's turn, unless they are.
func (s *segment) prepare(ctx context.Context, kind int) error {
	f, def := &s.frags[kind], &s.def.Fragments[kind]
	if f.ready.Load() || len(s.rows) == 0 {
		return nil
	}
	encode := func(dst []byte, row, _ int) []byte { return def.Encode(dst, s.rows[row]) }
	return f.fillInTurn(ctx, len(s.rows), encode, func() func(size int) bool {
		limit := s.budget.bulkLimitOf(s.estimate(def.Encode))
		return func(size int) bool { return s.budget.keepBulk(s, int64(size), limit) }
	})
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
