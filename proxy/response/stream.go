package response

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/gofiber/fiber/v2"

	"vitrine/cache/result"
	"vitrine/cache/view"
)

// stream sends a body that is made while it goes out. The error is result.ErrInFlight
// where too much waits to be sent.
func (r *Responder) stream(ctx context.Context, c *fiber.Ctx, p *Plan, snapshot *view.Snapshot, key result.Key) error {
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
	same, acquired := unchanged(c, etag), int64(0)
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
	c.Response().Header.SetContentType(p.contentType())
	size := -1
	if key.Coding != result.Identity {
		SetHeader(c, fiber.HeaderContentEncoding, string(key.Coding))
	} else if b.prepared != nil {
		size = b.prepared.size()
	}
	if size < 0 && head {
		return nil // of a stream of unknown length fasthttp would send the end, which no client expects
	}
	if b.Costly && resident { // others wait for the store
		b.Pieces = r.inTurns(context.WithoutCancel(ctx), b.Pieces) // the rest of the work for the request ends here
	}
	r.sendPieces(c, r.coded(b, key.Coding), size, func() { r.Results.InFlight().Release(acquired) })
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
	if coding != result.Identity && r.Results.InFlight().TryAcquire(needed) {
		return coding, needed
	}
	if r.Results.InFlight().TryAcquirePiece(streamBytes) {
		return result.Identity, streamBytes
	}
	return coding, 0
}

// sendPieces has pieces sent; a size of -1 is unknown. Then ended is called, once.
func (r *Responder) sendPieces(c *fiber.Ctx, all Pieces, size int, ended func()) {
	observe := r.Streamed(c)
	c.Context().SetBodyStream(&reader{pieces: all, ended: func(sent int64) { ended(); observe(sent) }}, size)
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

// reader hands pieces to a connection, which has them written without a copy. It holds one
// piece, whatever the size of the whole. Its owner closes it.
type reader struct {
	pieces Pieces
	sent   int64
	ended  func(sent int64) // called once with the number of bytes written
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
		s.sent += int64(n)
		if err != nil {
			return s.sent, err
		}
	}
	return s.sent, nil
}

// Close implements io.Closer. The rest of the pieces is dropped, also where the client
// has closed the connection.
func (s *reader) Close() error {
	if s.ended != nil {
		s.ended(s.sent)
		s.ended = nil
	}
	return nil
}

// inTurns makes each piece in a turn of its own, so that other work waits no longer for a long
// stream than for short requests. An answer that has begun is not cut off where too much
// waits for a turn: the piece is made without one.
func (r *Responder) inTurns(ctx context.Context, all Pieces) Pieces {
	return func(yield func([]byte, error) bool) {
		next, stop := iter.Pull2(all)
		defer stop()
		for {
			var piece []byte
			var err error
			var more bool
			one := func(context.Context) error { piece, err, more = next(); return nil }
			if r.Results.Turn(ctx, one) != nil {
				_ = one(ctx)
			}
			if !more || !yield(piece, err) {
				return
			}
		}
	}
}
