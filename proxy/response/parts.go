package response

import (
	"context"
	"iter"
	"runtime"
	"sync"

	"vitrine/cache/fair"
)

// partRows is how many rows a part has: enough to be worth a goroutine, few enough that
// other work waits about a millisecond.
const partRows = 128

// part is some of a body's rows that one goroutine makes.
type part[T any] struct {
	before string // what stands before its rows
	rows   []T
}

// inParts divides rows into parts, one at least.
func inParts[T any](e Envelope, rows iter.Seq2[T, error]) iter.Seq2[part[T], error] {
	return func(yield func(part[T], error) bool) {
		p := part[T]{string(e.Head), nil}
		for r, err := range rows {
			if err != nil {
				yield(p, err)
				return
			}
			if len(p.rows) == partRows {
				if !yield(p, nil) {
					return
				}
				p = part[T]{e.Between, make([]T, 0, partRows)}
			}
			p.rows = append(p.rows, r)
		}
		yield(p, nil)
	}
}

// JoinCostly is Join for rows that take longer to make than to send: they are made on
// several processors. Each call of writer returns what appends rows for one goroutine.
func JoinCostly[T any](e Envelope, rows Rows[T], writer func() func(dst []byte, r T) []byte) *Body {
	writers := sync.Pool{New: func() any { return writer() }}
	write := func(p part[T]) (*[]byte, error) {
		row := writers.Get().(func([]byte, T) []byte)
		defer writers.Put(row)
		text := chunks.Get().(*[]byte)
		*text = append((*text)[:0], p.before...)
		for i, r := range p.rows {
			if i > 0 {
				*text = append(*text, e.Between...)
			}
			*text = row(*text, r)
		}
		return text, nil
	}
	return &Body{Count: e.Count, ahead: runtime.GOMAXPROCS(0), pieces: func(ctx context.Context) Pieces {
		return func(yield func([]byte, error) bool) {
			more, err := inOrder(ctx, inParts(e, rows(ctx)), write, func(text *[]byte) bool {
				defer recycle(text)
				return yield(*text, nil)
			})
			if more {
				yield(e.Tail, err)
			}
		}
	}}
}

// inOrder makes something of inputs in the context's turn, of as many at a time as there are
// processors, and yields it in their order. It reports whether yield wants more.
func inOrder[In, Out any](ctx context.Context, inputs iter.Seq2[In, error], work func(In) (Out, error), yield func(Out) bool) (more bool, err error) {
	ahead := runtime.GOMAXPROCS(0)
	batch, made := make([]In, 0, ahead), make([]Out, ahead)
	flush := func() bool {
		err = fair.Each(ctx, len(batch), func(i int) (err error) {
			made[i], err = work(batch[i])
			return err
		})
		more = true
		for i := 0; i < len(batch) && more && err == nil; i++ {
			more = yield(made[i])
		}
		batch = batch[:0]
		return more && err == nil
	}
	for in, failed := range inputs {
		if failed != nil {
			return true, failed
		}
		if batch = append(batch, in); len(batch) == ahead && !flush() {
			return more, err
		}
	}
	flush()
	return more, err
}
