package proxy

import (
	"iter"
	"slices"
	"sync"

	"vitrine/cache/view/index"
)

// body is an evaluated answer whose bytes are yet to be joined: head, rows with
// commas between them, tail.
type body struct {
	count      int
	head, tail []byte
	items      iter.Seq[int]
	row        func(dst []byte, item int) []byte
	// light: rows are joined from what is prepared, so that to measure them all
	// costs less than to send them without knowing how long they are.
	light bool
	// then, where set, is a second document behind the first. Both are made of items.
	then *body
	// failed, once the items have ended, is why they ended early.
	failed error
	// runs, where set, are the rows in place of items: each begins with a comma.
	runs iter.Seq[index.Run]
	// guess is how many bytes the body has at least, most likely; 0: not known.
	guess int
	// ignored are the paths that no record has, as Vitrine-Ignored lists them.
	ignored string
}

// list has the body's items be rows.
func (b *body) list(rows iter.Seq2[index.Row, error], row rowFunc) *body {
	var at index.Row
	b.items = func(yield func(int) bool) {
		for r, err := range rows {
			if err != nil {
				b.failed = err
				return
			}
			at = r
			if !yield(int(r.Slot)) {
				return
			}
		}
	}
	b.row = func(dst []byte, _ int) []byte { return row(dst, at) }
	return b
}

// chunk is about how much of a body is joined at a time, in bytes.
const chunk = 64 << 10

// pieces yields the body in pieces of about a chunk, or larger where the memory of
// prepared rows can be sent as it is.
func (b *body) pieces() pieces {
	if b.runs != nil {
		return b.joinedRuns
	}
	return b.joinedRows
}

// chunks are the buffers that bodies are joined in.
var chunks = sync.Pool{New: func() any { return new(make([]byte, 0, chunk+chunk/4)) }}

func (b *body) joinedRows(yield func([]byte, error) bool) {
	buffer := chunks.Get().(*[]byte)
	out := append((*buffer)[:0], b.head...)
	defer func() {
		if cap(out) <= 4*chunk { // one long row must not stay for ever
			*buffer = out
			chunks.Put(buffer)
		}
	}()
	first := true
	for item := range b.items {
		if !first {
			out = append(out, ',')
		}
		first = false
		if out = b.row(out, item); len(out) < chunk {
			continue
		}
		if !yield(out, nil) {
			return
		}
		out = out[:0]
	}
	if b.failed != nil {
		yield(nil, b.failed)
		return
	}
	if out = append(out, b.tail...); yield(out, nil) && b.then != nil {
		b.then.joinedRows(yield)
	}
}

func (b *body) joinedRuns(yield func([]byte, error) bool) {
	out := append(make([]byte, 0, chunk+chunk/4), b.head...)
	first := true
	for run := range shortened(b.runs) {
		skip := 0
		if first {
			skip, first = 1, false
		}
		text := run.Text()
		asItLies := len(text) >= chunk/2
		if len(out) > 0 && (asItLies || len(out)+run.Len() > chunk) {
			if !yield(out, nil) {
				return
			}
			out = out[:0]
		}
		if !asItLies {
			begin := len(out)
			out = slices.Delete(run.Append(out), begin, begin+skip)
		} else if !yield(text[skip:], nil) {
			return
		}
	}
	yield(append(out, b.tail...), nil)
}

// shortened yields runs, row by row those that are too long to be joined as a whole.
func shortened(runs iter.Seq[index.Run]) iter.Seq[index.Run] {
	return func(yield func(index.Run) bool) {
		for run := range runs {
			if run.Text() != nil || run.Len() <= chunk {
				if !yield(run) {
					return
				}
				continue
			}
			for row := range run.Rows() {
				if !yield(row) {
					return
				}
			}
		}
	}
}

// size is how long the body is where that is cheaply known, else -1.
func (b *body) size() int {
	n := len(b.head) + len(b.tail)
	switch {
	case b.runs != nil:
		before := n
		for run := range b.runs {
			n += run.Len()
		}
		if n > before {
			n-- // the first comma
		}
	case b.light:
		var scratch []byte
		commas := -1
		for item := range b.items {
			scratch = b.row(scratch[:0], item)
			n += len(scratch)
			commas++
		}
		n += max(commas, 0)
	default:
		return -1
	}
	return n
}
