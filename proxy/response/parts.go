package response

import (
	"context"
	"errors"
	"iter"
	"runtime"

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
	b.parts = func(yield func(func([]byte) []byte, error) bool) {
		writers := make(chan func([]byte, T) []byte, partsAhead()+1) // not in use
		batch, before := make([]T, 0, partRows), e.head              // before: in front of the first row
		part := func(tail []byte) func([]byte) []byte {
			batch, before := batch, before
			return func(dst []byte) []byte {
				var write func([]byte, T) []byte
				select {
				case write = <-writers:
				default:
					write = writer()
				}
				dst = append(dst, before...)
				for i, r := range batch {
					if i > 0 {
						dst = append(dst, e.between...)
					}
					dst = write(dst, r)
				}
				select {
				case writers <- write:
				default:
				}
				return append(dst, tail...)
			}
		}
		for r, err := range rows {
			if err != nil {
				yield(nil, err)
				return
			}
			if len(batch) == partRows {
				if !yield(part(nil), nil) {
					return
				}
				batch, before = make([]T, 0, partRows), []byte(e.between)
			}
			batch = append(batch, r)
		}
		yield(part(e.tail), nil)
	}
	return b
}

// partsAhead is how many parts of a stream may be made while another one is sent.
func partsAhead() int { return runtime.GOMAXPROCS(0) }

// piece is a part that is being made.
type piece struct {
	text []byte
	err  error         // errUnmade until it is made
	made chan struct{} // closed then, and where making it has panicked
}

var errUnmade = errors.New("response: a part of the answer could not be made")

// made makes parts on all processors, and yields them in their order. Each takes a turn of
// its own, so that other work waits no longer for a long stream than for short requests. An
// answer that has begun is not cut off where too much waits for a turn: the part is made
// without one.
func (r *Responder) made(ctx context.Context, all parts) Pieces {
	return func(yield func([]byte, error) bool) {
		var work parallel.Group
		ctx, stop := context.WithCancel(ctx)
		pieces := make(chan *piece, partsAhead())
		unused := make(chan []byte, partsAhead()+2)
		work.Go(func() {
			defer close(pieces)
			for part, err := range all {
				p := &piece{err: errUnmade, made: make(chan struct{})}
				select {
				case pieces <- p:
				case <-ctx.Done():
					return
				}
				if err != nil {
					p.err = err
					close(p.made)
					return
				}
				select {
				case p.text = <-unused:
				default:
				}
				work.Go(func() {
					defer close(p.made)
					one := func(context.Context) error { p.text, p.err = part(p.text[:0]), nil; return nil }
					if r.Results.Turn(ctx, one) != nil && ctx.Err() == nil {
						_ = one(ctx)
					}
				})
			}
		})
		for p := range pieces {
			if <-p.made; !yield(p.text, p.err) || p.err != nil {
				break
			}
			if cap(p.text) <= 4*chunk { // one long row must not stay for ever
				unused <- p.text
			}
		}
		stop()
		for range pieces { // the reader of all ends
		}
		work.Wait()
	}
}
