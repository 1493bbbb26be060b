package response

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"

	"vitrine/cache/fair"
	"vitrine/cache/result"
	"vitrine/cache/view"
)

// stream sends a body that is made while it goes out. The error is result.ErrInFlight
// where too much waits to be sent. One turn is for all of it, paused while the client
// reads, so that a long stream soon counts as costly work.
func (r *Responder) stream(c *fiber.Ctx, p *Plan, snapshot *view.Snapshot, key result.Key, header fields) (err error) {
	s := &reader{inFlight: r.Results.InFlight(), sizes: r.Sizes(c)}
	ctx, cancel := r.Context(c.UserContext(), c)
	s.cancel = cancel
	defer func() {
		if err != nil || c.Method() == fiber.MethodHead || s.pieces == nil {
			s.end()
		}
	}()
	if s.ctx, s.turn, err = r.Results.Begin(ctx); err != nil {
		return err
	}
	defer s.turn.Pause()
	building, built := result.WithTimeout(s.ctx, r.Timeout)
	defer built()
	b, err := p.build(building, snapshot)
	if err != nil {
		return err
	}
	if err := reportIgnored(c, b.ignored); err != nil {
		return err
	}
	setLinks(c, b.Links)
	etag, head := largeTag(key, b), c.Method() == fiber.MethodHead
	same := header.unchanged(etag)
	if !same && !head {
		if key.Coding, s.acquired = r.acquire(b, key.Coding); s.acquired == 0 {
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
	s.pieces = func(ctx context.Context) Pieces { return r.coded(ctx, b, key.Coding) }
	s.shares = r.WriteIn(c, s)
	c.Context().SetBodyStream(s, size)
	return nil
}

// streamBytes is about what a stream holds beside what its connection does: a piece and
// its parts.
const streamBytes = chunk + chunk/2

// making is about how much memory it takes to make the pieces of a body.
func (b *Body) making() int64 { return int64(streamBytes*max(b.ahead, 1)) + b.Held }

// acquire acquires the memory for a stream: in its coding, or where there is too little
// for that, as it is. It returns the coding and how many bytes are to be released; 0
// where there is too little for either.
func (r *Responder) acquire(b *Body, coding result.Coding) (result.Coding, int64) {
	plain := b.making()
	needed := plain + result.StreamBytes(coding)
	if joint(b, coding) {
		needed = plain + streamBytes // blocks are compressed by turns
	}
	if coding != result.Identity && r.Results.InFlight().TryAcquire(needed) {
		return coding, needed
	}
	if r.Results.InFlight().TryAcquirePiece(plain) {
		return result.Identity, plain
	}
	return coding, 0
}

// compressed are pieces in a coding, compressed while they are read.
func compressed(plain Pieces, c result.Coding) Pieces {
	return func(yield func([]byte, error) bool) {
		var ready bytes.Buffer
		coder, err := result.NewStream(&ready, c)
		if err != nil {
			yield(nil, err)
			return
		}
		for piece, err := range plain {
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
	ctx      context.Context // of WriteTo, which is given none: it ends with the client, and carries turn
	cancel   context.CancelFunc
	turn     *fair.Turn // paused while the client does not read
	shares   bool       // the connection pauses and resumes the turn
	pieces   func(context.Context) Pieces
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
	defer s.Pause()
	if err := cmp.Or(s.Resume(), s.turn.Costly(s.ctx)); err != nil { // a stream is long
		return 0, err
	}
	for piece, err := range s.pieces(s.ctx) {
		if err != nil {
			return s.sent, fmt.Errorf("response: stream: %w", err)
		}
		if !s.shares {
			s.Pause()
		}
		n, err := w.Write(piece)
		if s.sent += int64(n); err == nil {
			err = cmp.Or(s.Resume(), s.turn.Check(s.ctx))
		}
		if err != nil {
			return s.sent, err
		}
	}
	return s.sent, nil
}

// Pause returns the turn until Resume.
func (s *reader) Pause() { s.turn.Pause() }

// Resume waits for the turn, unless it is held.
func (s *reader) Resume() error {
	if err := s.turn.Resume(s.ctx); err != nil {
		return fmt.Errorf("response: stream: %w", err)
	}
	return nil
}

// Close implements io.Closer. The rest of the pieces is dropped, also where the client
// has closed the connection.
func (s *reader) Close() error {
	if s.sizes != nil {
		s.sizes.Observe(float64(s.sent))
		s.sizes = nil
		s.end()
	}
	return nil
}

// end ends the work and what it acquired.
func (s *reader) end() {
	if s.turn != nil {
		s.turn.End()
	}
	s.cancel()
	s.inFlight.Release(s.acquired)
	s.acquired = 0
}
