package response

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"
	"sync"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"

	"vitrine/cache/result"
	"vitrine/cache/view"
	"vitrine/rules/parallel"
)

// stream sends a body that is made while it goes out. The error is result.ErrInFlight
// where too much waits to be sent.
func (r *Responder) stream(ctx context.Context, c *fiber.Ctx, p *Plan, snapshot *view.Snapshot, key result.Key, header fields) error {
	var b *Body
	_, resident := snapshot.Resident()
	err := r.Results.Turn(ctx, func(ctx context.Context) (err error) {
		if !resident {
			ctx = context.WithoutCancel(ctx) // rows are read while they are sent, as long as that takes
		}
		b, err = p.build(ctx, snapshot)
		return err
	})
	if err != nil {
		return err
	}
	if err := reportIgnored(c, b.ignored); err != nil {
		return err
	}
	setLinks(c, b.Links)
	etag, head := largeTag(key, b), c.Method() == fiber.MethodHead
	same, acquired := header.unchanged(etag), int64(0)
	if !same && !head {
		if key.Coding, acquired = r.acquire(b, key.Coding); acquired == 0 {
			return result.ErrInFlight
		}
		etag = largeTag(key, b)
	}
	SetHeader(c, fiber.HeaderETag, etag)
	SetHeader(c, headerCacheStatus, cacheStatus(streamed, r.ages.of(p.View).stale))
	if same {
		return c.SendStatus(fiber.StatusNotModified)
	}
	c.Response().Header.SetContentType(p.ContentType)
	size := -1
	if key.Coding != result.Identity {
		SetHeader(c, fiber.HeaderContentEncoding, string(key.Coding))
	} else if b.prepared != nil {
		size = b.prepared.size()
	}
	if size < 0 && head {
		return nil // of a stream of unknown length fasthttp would send the end, which no client expects
	}
	pieces := r.coded(b, key.Coding)
	if b.parts != nil && key.Coding == result.Identity {
		pieces = r.made(context.WithoutCancel(ctx), b.parts) // the rest of the work for the request ends here
	}
	c.Context().SetBodyStream(&reader{pieces: pieces, inFlight: r.Results.InFlight(), acquired: acquired, sizes: r.Sizes(c)}, size)
	return nil
}

// streamBytes is about what a stream holds beside what its connection does: a piece and
// its parts.
const streamBytes = chunk + chunk/2

// acquire acquires the memory for a stream: in its coding, or where there is too little
// for that, as it is. It returns the coding and how many bytes are to be released; 0
// where there is too little for either.
func (r *Responder) acquire(b *Body, coding result.Coding) (result.Coding, int64) {
	needed := streamBytes + result.StreamBytes(coding)
	if joint(b, coding) {
		needed = 2 * streamBytes // blocks are compressed by turns
	}
	plain := int64(streamBytes)
	if b.parts != nil {
		plain += int64(partsAhead() * streamBytes)
	}
	if coding != result.Identity && r.Results.InFlight().TryAcquire(needed) {
		return coding, needed
	}
	if r.Results.InFlight().TryAcquirePiece(plain) {
		return result.Identity, plain
	}
	return coding, 0
}

// compressed is a body in a coding, compressed while it is read.
func compressed(b *Body, c result.Coding) Pieces {
	return func(yield func([]byte, error) bool) {
		var ready bytes.Buffer
		coder, err := result.NewStream(&ready, c)
		if err != nil {
			yield(nil, err)
			return
		}
		for piece, err := range b.Pieces {
			if err == nil {
				_, err = coder.Write(piece)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if ready.Len() > 0 && !yield(ready.Bytes(), nil) {
				return
			}
			ready.Reset()
		}
		err = coder.Close()
		yield(ready.Bytes(), err)
	}
}

// reader hands the pieces of a stream to a connection, which has them written without a
// copy. It holds one piece, whatever the size of the whole. Its owner closes it.
type reader struct {
	pieces   Pieces
	sent     int64
	inFlight *result.InFlight // where the bytes acquired count until the end
	acquired int64
	sizes    prometheus.Observer // gets the number of bytes sent; nil when it has
}

// Read implements io.Reader. It is not called: all that fasthttp does with a body is WriteTo.
func (s *reader) Read([]byte) (int, error) { return 0, errors.ErrUnsupported }

// SupportsBodyWriteTo implements fasthttp.BodyWriterTo: pieces are sent as they are also
// where the length is unknown, instead of in parts of 4 kB.
func (s *reader) SupportsBodyWriteTo() bool { return true }

// WriteTo implements io.WriterTo.
func (s *reader) WriteTo(w io.Writer) (int64, error) {
	for piece, err := range s.pieces {
		if err != nil {
			return s.sent, fmt.Errorf("response: stream: %w", err)
		}
		n, err := w.Write(piece)
		if s.sent += int64(n); err != nil {
			return s.sent, err
		}
	}
	return s.sent, nil
}

// Close implements io.Closer. The rest of the pieces is dropped, also where the client
// has closed the connection.
func (s *reader) Close() error {
	if s.sizes == nil {
		return nil
	}
	s.sizes.Observe(float64(s.sent))
	s.sizes = nil
	s.inFlight.Release(s.acquired)
	return nil
}

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
					dst = append(dst, e.Between...)
				}
				dst = write(dst, r)
			}
			return append(dst, tail...)
		}
	}
	b.parts = func(yield func(func([]byte) []byte, error) bool) {
		batch, before := make([]T, 0, partRows), string(e.Head)
		for r, err := range rows {
			if err != nil {
				yield(nil, err)
				return
			}
			if len(batch) == partRows {
				if !yield(part(before, batch, nil), nil) {
					return
				}
				batch, before = make([]T, 0, partRows), e.Between
			}
			batch = append(batch, r)
		}
		yield(part(before, batch, e.Tail), nil)
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
