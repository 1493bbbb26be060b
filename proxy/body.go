package proxy

import (
	"bytes"
	"iter"
	"slices"

	"vitrine/cache/view"
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
	runs iter.Seq[view.Run]
	// guess is how many bytes the body has at least, most likely; 0: not known.
	guess int
}

// list has the body's items be rows.
func (b *body) list(rows iter.Seq2[view.Row, error], row rowFunc) *body {
	var at view.Row
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
	b.row = func(dst []byte, _ int) []byte { return row(dst, at.Snap, at.Slot) }
	return b
}

// chunk is about how much of a body is joined at a time, in bytes.
const chunk = 64 << 10

// pieces yields the body in pieces of about a chunk, or larger where the memory of
// prepared rows can be sent as it is. A piece holds until the next is asked for.
func (b *body) pieces() iter.Seq[[]byte] {
	if b.runs != nil {
		return b.joinedRuns
	}
	return b.joinedRows
}

func (b *body) joinedRows(yield func([]byte) bool) {
	out := append(make([]byte, 0, chunk+chunk/4), b.head...)
	first := true
	for item := range b.items {
		if !first {
			out = append(out, ',')
		}
		first = false
		if out = b.row(out, item); len(out) < chunk {
			continue
		}
		if !yield(out) {
			return
		}
		out = out[:0]
	}
	if b.failed == nil && yield(append(out, b.tail...)) && b.then != nil {
		b.then.joinedRows(yield)
		b.failed = b.then.failed
	}
}

func (b *body) joinedRuns(yield func([]byte) bool) {
	out := append(make([]byte, 0, chunk+chunk/4), b.head...)
	first := true
	for run := range b.runs {
		skip := 0
		if first {
			skip, first = 1, false
		}
		text := run.Text()
		asItLies := len(text) >= chunk/2
		if len(out) > 0 && (asItLies || len(out)+run.Len() > chunk) {
			if !yield(out) {
				return
			}
			out = out[:0]
		}
		if !asItLies {
			begin := len(out)
			out = slices.Delete(run.Append(out), begin, begin+skip)
		} else if !yield(text[skip:]) {
			return
		}
	}
	yield(append(out, b.tail...))
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

// bytes joins the body, or gives up beyond a size.
func (b *body) bytes(most int) (text []byte, fits bool, err error) {
	if b.runs != nil {
		text, fits = b.copied(most)
		return text, fits, nil
	}
	out := append(make([]byte, 0, 4096), b.head...)
	first := true
	for item := range b.items {
		if !first {
			out = append(out, ',')
		}
		first = false
		if out = b.row(out, item); len(out) > most {
			return nil, false, nil
		}
	}
	if b.failed != nil {
		return nil, false, b.failed
	}
	out = append(out, b.tail...)
	if b.then == nil {
		return fitted(out), true, nil
	}
	behind, fits, err := b.then.bytes(most - len(out))
	return fitted(append(out, behind...)), fits, err
}

// fitted returns text in no more memory than it needs: it may be kept for long, and
// most answers are far smaller than the memory they were joined in.
func fitted(text []byte) []byte {
	if cap(text)-len(text) <= len(text)/8 {
		return text
	}
	return bytes.Clone(text)
}

// copied is bytes of a body of runs.
func (b *body) copied(most int) ([]byte, bool) {
	size := b.size()
	if size > most {
		return nil, false
	}
	out := make([]byte, 0, size)
	for piece := range b.joinedRuns {
		out = append(out, piece...)
	}
	return out, true
}
