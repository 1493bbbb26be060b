package response

import (
	"context"
	"errors"
	"iter"
	"strconv"
	"sync"

	"github.com/gofiber/fiber/v2"

	"vitrine/cache/fair"
	"vitrine/proxy/query"
	"vitrine/rules/ejson"
)

// Pieces yields the bytes of a body piece by piece. A piece is valid until the next is read. An error is the last
// item.
type Pieces = iter.Seq2[[]byte, error]

// Rows yields the rows of a body in the context's turn.
type Rows[T any] = func(context.Context) iter.Seq2[T, error]

// Body is an evaluated answer whose bytes are made while its pieces are read. The pieces may be read more than once.
type Body struct {
	// SizeHint is a low estimate of how many bytes the pieces have; 0 if unknown.
	SizeHint int
	// RowMemory is how many bytes of memory reading the rows takes, in addition to a piece: also what the body holds,
	// such as groups, which Build has counted by result.Hold.
	RowMemory int64
	// Links is the value of the answer's Link header, if that depends on the rows.
	Links string
	// Ignored lists values of the request that no record has, in the form for Vitrine-Ignored. It is reported unless
	// the list is restricted, and with the paths that no record has.
	Ignored string

	// Selected says which rows the body is made of; the zero one is for bodies that are made otherwise.
	Selected Selected

	pieces func(context.Context) Pieces
	size   int // number of bytes in the pieces; 0 if unknown
	ahead  int // number of pieces made at the same time; 0 means one
}

// errNoTurn reports a programming mistake.
var errNoTurn = errors.New("response: a body is read without a turn")

// Pieces makes the bytes of the body in the context's turn, which the caller may pause while a client reads, until it
// asks for the next piece. Without the turn it yields an error, because the work would not share the processors
// fairly, nor end when the client leaves.
func (b *Body) Pieces(ctx context.Context) Pieces {
	return func(yield func([]byte, error) bool) {
		turn := fair.TurnOf(ctx)
		if !turn.Held() {
			yield(nil, errNoTurn)
			return
		}
		for piece, err := range b.pieces(ctx) {
			if !yield(piece, err) || err != nil {
				return
			}
			if !turn.Held() {
				yield(nil, errNoTurn)
				return
			}
		}
	}
}

// chunk is about how many bytes of a body are joined at a time.
const chunk = 64 << 10

// chunks is a pool of buffers for joining bodies.
var chunks = sync.Pool{New: func() any { return new(make([]byte, 0, chunk+chunk/4)) }}

// recycle returns a buffer to the pool, unless a long row has made it large.
func recycle(buffer *[]byte) {
	if cap(*buffer) <= 4*chunk {
		chunks.Put(buffer)
	}
}

// Join returns the body with an envelope and rows; row appends one row to dst.
func Join[T any](e Envelope, rows Rows[T], row func(dst []byte, r T) []byte) *Body {
	return &Body{pieces: func(ctx context.Context) Pieces {
		return func(yield func([]byte, error) bool) { join(ctx, e, rows, row, yield) }
	}}
}

// join appends rows to a buffer, and yields it whenever it has a chunk of them: many small rows make few pieces.
func join[T any](ctx context.Context, e Envelope, rows Rows[T], row func(dst []byte, r T) []byte,
	yield func([]byte, error) bool) {
	buffer := chunks.Get().(*[]byte)
	out := append((*buffer)[:0], e.Head...)
	defer func() {
		*buffer = out
		recycle(buffer)
	}()
	between, turn := "", fair.TurnOf(ctx)
	for r, err := range rows(ctx) {
		if err == nil {
			err = turn.Check(ctx)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		out = append(out, between...)
		between = e.Between
		if out = row(out, r); len(out) < chunk {
			continue
		}
		if !yield(out, nil) {
			return
		}
		out = out[:0]
	}
	out = append(out, e.Tail...)
	yield(out, nil)
}

// JoinRange is Join with the numbers in [from, to) as rows.
func JoinRange(e Envelope, from, to int, row func(dst []byte, i int) []byte) *Body {
	return Join(e, func(context.Context) iter.Seq2[int, error] {
		return func(yield func(int, error) bool) {
			for i := from; i < to && yield(i, nil); i++ {
			}
		}
	}, row)
}

// JoinRuns returns the body with prepared rows, each of which begins with a comma. Long runs are sent without a copy.
// It reads the runs once in ctx for their size, and again in the context of each reader.
func JoinRuns(ctx context.Context, e Envelope, runs Rows[[]byte]) (*Body, error) {
	size := 0
	for run, err := range runs(ctx) {
		if err != nil {
			return nil, err
		}
		size += len(run)
	}
	size = len(e.Head) + len(e.Tail) + max(size-1, 0) // minus the first comma
	return &Body{size: size, pieces: func(ctx context.Context) Pieces {
		return func(yield func([]byte, error) bool) { joinRuns(e, runs(ctx), yield) }
	}}, nil
}

// joinRuns collects short runs in a buffer, and yields long ones, of half a chunk or more, from where they are.
func joinRuns(e Envelope, runs iter.Seq2[[]byte, error], yield func([]byte, error) bool) {
	buffer := chunks.Get().(*[]byte)
	defer recycle(buffer)
	out := append((*buffer)[:0], e.Head...)
	comma := 1
	for run, err := range runs {
		if err != nil {
			yield(nil, err)
			return
		}
		run, comma = run[comma:], 0
		if len(run) < chunk/2 {
			if out = append(out, run...); len(out) < chunk/2 {
				continue
			}
			run = nil
		}
		if len(out) > 0 && !yield(out, nil) || len(run) > 0 && !yield(run, nil) { // the run is sent without a copy
			return
		}
		out = out[:0]
	}
	yield(append(out, e.Tail...), nil)
}

// Bytes returns a body with one piece.
func Bytes(text []byte) *Body {
	return &Body{pieces: func(context.Context) Pieces {
		return func(yield func([]byte, error) bool) { yield(text, nil) }
	}}
}

// Then appends another document to the body.
func (b *Body) Then(next *Body) *Body {
	return &Body{SizeHint: b.SizeHint, RowMemory: b.RowMemory + next.RowMemory, Selected: b.Selected,
		pieces: func(ctx context.Context) Pieces {
			return func(yield func([]byte, error) bool) {
				for _, body := range []*Body{b, next} {
					for piece, err := range body.pieces(ctx) {
						if !yield(piece, err) || err != nil {
							return
						}
					}
				}
			}
		}}
}

// ContentType is the media type of JSON answers.
const ContentType = "application/json; charset=utf-8"

// Envelope is the text around the rows of an answer, and between two rows.
type Envelope struct {
	Head, Tail []byte
	Between    string
}

// List returns the envelope of a list. It has limit and offset if they were applied.
func List(count int, g query.Page) Envelope {
	head := strconv.AppendInt([]byte(`{"status":200,"count":`), int64(count), 10)
	return Envelope{append(head, `,"data":[`...), append(appendPage([]byte("]"), g), '}'), ","}
}

// Full returns the envelope of full records, in which the count comes last.
func Full(count int, g query.Page) Envelope {
	tail := strconv.AppendInt([]byte(`],"count":`), int64(count), 10)
	return Envelope{[]byte(`{"status":200,"data":[`), append(appendPage(tail, g), '}'), ","}
}

// appendPage appends the limit and offset of a page, or nothing if all rows were requested.
func appendPage(b []byte, g query.Page) []byte {
	if g.Limit == 0 {
		return b
	}
	b = strconv.AppendInt(append(b, `,"limit":`...), int64(g.Limit), 10)
	return strconv.AppendInt(append(b, `,"offset":`...), int64(g.Offset), 10)
}

// Single returns the body of an answer whose data is one object.
func Single(object func(dst []byte) []byte) *Body {
	return Bytes(append(object([]byte(`{"status":200,"count":1,"data":`)), '}'))
}

// Failure returns the envelope of an error.
func Failure(status int, name, msg string) []byte {
	b := strconv.AppendInt([]byte(`{"status":`), int64(status), 10)
	b = ejson.AppendString(append(b, `,"count":0,"error":`...), name)
	b = ejson.AppendString(append(b, `,"msg":`...), msg)
	return append(b, '}')
}

// Unavailable is the name of an error that is expected to end by itself.
const Unavailable = "Service unavailable"

// SendUnkept sends JSON that no cache may keep.
func SendUnkept(c *fiber.Ctx, text []byte) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Set(fiber.HeaderContentType, ContentType)
	return c.Send(text)
}
