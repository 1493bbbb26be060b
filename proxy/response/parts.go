package response

import (
	"context"
	"iter"
	"runtime"
	"sync"

	"vitrine/rules/parallel"
)

// parts are the pieces of a body, each as what appends it. Several may be made at a time.
type parts = iter.Seq2[func(dst []byte) []byte, error]

// partRows is how many rows a part has: enough that a turn is worth it, few enough that
// other requests wait about a millisecond.
const partRows = 128

// JoinCostly is Join for rows that take longer to make than to send: a stream makes them on
// several processors. Each call of writer returns what appends rows for one goroutine.
func JoinCostly[T any](e Envelope, rows iter.Seq2[T, error], writer func() func(dst []byte, r T) []byte) *Body {
	b := Join(e, rows, writer())
	writers := sync.Pool{New: func() any { return writer() }}
	part := func(before string, batch []T, tail []byte) func([]byte) []byte {
		return func(dst []byte) []byte {
			write := writers.Get().(func([]byte, T) []byte)
			defer writers.Put(write)
			dst = append(dst, before...)
			for i, r := range batch {
				if i > 0 {
					dst = append(dst, e.between...)
				}
				dst = write(dst, r)
			}
			return append(dst, tail...)
		}
	}
	b.parts = func(yield func(func([]byte) []byte, error) bool) {
		batch, before := make([]T, 0, partRows), string(e.head)
		for r, err := range rows {
			if err != nil {
				yield(nil, err)
				return
			}
			if len(batch) == partRows {
				if !yield(part(before, batch, nil), nil) {
					return
				}
				batch, before = make([]T, 0, partRows), e.between
			}
			batch = append(batch, r)
		}
		yield(part(before, batch, e.tail), nil)
	}
	return b
}

// partsAhead is how many parts of a stream may be made while another one is sent.
func partsAhead() int { return runtime.GOMAXPROCS(0) }

// made makes parts on all processors, and yields them in their order. Each takes a turn of
// its own, so that other work waits no longer for a long stream than for short requests. An
// answer that has begun is not cut off where too much waits for a turn: the part is made
// without one.
func (r *Responder) made(ctx context.Context, all parts) Pieces {
	return func(yield func([]byte, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		for text, err := range parallel.Map(all, partsAhead(), func(part func([]byte) []byte) (*[]byte, error) {
			text := chunks.Get().(*[]byte)
			one := func(context.Context) error { *text = part((*text)[:0]); return nil }
			if r.Results.Turn(ctx, one) != nil && ctx.Err() == nil {
				_ = one(ctx)
			}
			return text, nil
		}) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(*text, nil) {
				stop() // parts that wait for their turn are not needed any more
				return
			}
			recycle(text)
		}
	}
}
