package response

import (
	"context"
	"runtime"
	"sync"

	"vitrine/cache/fair"
)

// partRows is how many rows a goroutine joins at a time: worth a goroutine, but other work waits only a millisecond.
const partRows = 128

// JoinCostly is Join for rows that take longer to make than to send: several processors make them. Each call of
// writer returns a function that appends rows, for one goroutine.
func JoinCostly[T any](e Envelope, rows Rows[T], writer func() func(dst []byte, r T) []byte) *Body {
	writers := sync.Pool{New: func() any { return writer() }}
	join := func(rows []T) *[]byte {
		row := writers.Get().(func([]byte, T) []byte)
		defer writers.Put(row)
		text := chunks.Get().(*[]byte)
		*text = (*text)[:0]
		for _, r := range rows {
			*text = row(append(*text, e.Between...), r)
		}
		return text
	}
	ahead := runtime.GOMAXPROCS(0)
	return &Body{ahead: ahead, pieces: func(ctx context.Context) Pieces {
		return func(yield func([]byte, error) bool) {
			if !yield(e.Head, nil) {
				return
			}
			batch, texts := make([]T, 0, ahead*partRows), make([]*[]byte, ahead)
			more, skip := true, len(e.Between) // skip the separator before the first row
			// flush makes the texts of the batch in parallel, and yields them in the order of the rows.
			flush := func() {
				parts := (len(batch) + partRows - 1) / partRows
				err := fair.Each(ctx, parts, func(i int) error {
					texts[i] = join(batch[i*partRows : min((i+1)*partRows, len(batch))])
					return nil
				})
				if err != nil {
					yield(nil, err)
					more = false
					return
				}
				for _, text := range texts[:parts] {
					more = more && yield((*text)[skip:], nil)
					recycle(text)
					skip = 0
				}
				batch = batch[:0]
			}
			for r, err := range rows(ctx) {
				if err != nil {
					yield(nil, err)
					return
				}
				if batch = append(batch, r); len(batch) == cap(batch) {
					flush()
				}
				if !more {
					return
				}
			}
			if flush(); more {
				yield(e.Tail, nil)
			}
		}
	}}
}
