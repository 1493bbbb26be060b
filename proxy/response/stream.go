package response

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/gofiber/fiber/v2"

	"vitrine/cache/fair"
	"vitrine/cache/result"
	"vitrine/proxy/listener"
)

// stream sends a body while it is made. It builds the body if b is nil. The error is result.ErrInFlight if too many
// bytes wait to be sent. The whole stream has one turn, which is paused while the client does not read, so that a
// long stream soon counts as costly work.
func (r *request) stream(b *Body) (err error) {
	ctx, cancel := r.work(r.c, r.client)
	s := &stream{cancel: cancel, inFlight: r.Results.InFlight()}
	head := r.c.Method() == fiber.MethodHead
	defer func() {
		if err != nil || head || s.pieces == nil {
			s.end()
		}
	}()
	if s.ctx, s.turn, err = r.Results.Begin(ctx); err != nil {
		return err
	}
	defer s.turn.Pause()
	if b == nil {
		building, built := context.WithDeadline(s.ctx, r.deadline(r.c))
		defer built()
		building, release := r.Results.InFlight().Claim(building)
		defer release() // once acquire has counted what the body holds
		if b, err = r.plan.build(building, r.snapshots); err != nil {
			return err
		}
	}
	if err := ReportIgnored(r.c, b.Ignored); err != nil {
		return err
	}
	setLinks(r.c, b.Links)
	// The tag of a stream does not depend on its bytes, so a caller with the same ETag gets 304 without any of them.
	same := r.header.unchanged(streamTag(&r.key))
	if !same && !head {
		if r.key.Coding, s.acquired = r.acquire(b); s.acquired == 0 {
			return result.ErrInFlight
		}
	}
	SetHeader(r.c, fiber.HeaderETag, streamTag(&r.key))
	SetHeader(r.c, headerCacheStatus, cacheStatus(streamed, r.ages.of(r.plan.View, r.Now()).stale))
	if same {
		return r.c.SendStatus(fiber.StatusNotModified)
	}
	r.c.Response().Header.SetContentType(r.plan.ContentType)
	size := cmp.Or(b.size, listener.UnknownSize)
	if r.key.Coding != result.Identity {
		SetHeader(r.c, fiber.HeaderContentEncoding, string(r.key.Coding))
		size = listener.UnknownSize
	}
	if size == listener.UnknownSize && head {
		// the HTTP server would send the end of a stream of unknown length, but a HEAD client expects no body
		return nil
	}
	s.pieces, s.intact = func() Pieces { return b.in(s.ctx, r.key.Coding) }, r.snapshots.intact
	if conn := connOf(r.c); conn != nil {
		s.shares = conn.WriteIn(s)
	}
	listener.SetPieces(r.c.Context(), s, size)
	return nil
}

// streamBytes is about how much memory a stream takes in addition to its connection: a piece and its parts.
const streamBytes = chunk + chunk/2

// making is about how many bytes of memory are used to make the pieces of a body.
func (b *Body) making() int64 { return int64(streamBytes*max(b.ahead, 1)) + b.RowMemory }

// acquire acquires the memory for a stream in its coding or, if there is too little, without a coding. It returns the
// coding and how many bytes to release, or 0 if there is too little memory for either.
func (r *request) acquire(b *Body) (result.Coding, int64) {
	plain, coding := b.making(), r.key.Coding
	if needed := plain + result.StreamBytes(coding); coding != result.Identity &&
		r.Results.InFlight().TryAcquire(needed) {
		return coding, needed
	}
	if r.Results.InFlight().TryAcquirePiece(plain) {
		return result.Identity, plain
	}
	return coding, 0
}

// in returns the pieces of a body in a coding, compressed while they are read.
func (b *Body) in(ctx context.Context, c result.Coding) Pieces {
	if c == result.Identity {
		return b.Pieces(ctx)
	}
	return func(yield func([]byte, error) bool) {
		var ready bytes.Buffer
		coder, err := result.NewStream(&ready, c)
		if err != nil {
			yield(nil, err)
			return
		}
		for piece, err := range b.Pieces(ctx) {
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

// stream writes the pieces of a body, one in memory at a time, to a connection. The server closes it.
type stream struct {
	ctx      context.Context // for WriteTo, which has no context parameter; it ends with the client, and has turn
	cancel   context.CancelFunc
	turn     *fair.Turn // paused while the client does not read
	shares   bool       // the connection pauses and resumes the turn
	pieces   func() Pieces
	intact   func() error     // asked for each piece
	inFlight *result.InFlight // counts the acquired bytes until the end
	acquired int64
}

// WriteTo implements io.WriterTo.
func (s *stream) WriteTo(w io.Writer) (sent int64, err error) {
	defer s.Pause()
	if err := cmp.Or(s.Resume(), s.turn.Costly(s.ctx)); err != nil { // costly, because a stream is long
		return 0, err
	}
	for piece, err := range s.pieces() {
		if err = cmp.Or(err, s.intact()); err != nil {
			return sent, fmt.Errorf("response: stream: %w", err)
		}
		// A slow client must not keep a processor: whatever the connection does not pause itself is paused here.
		if !s.shares {
			s.Pause()
		}
		n, err := w.Write(piece)
		if sent += int64(n); err == nil {
			err = cmp.Or(s.Resume(), s.turn.Check(s.ctx))
		}
		if err != nil {
			return sent, err
		}
	}
	return sent, nil
}

// Pause returns the turn until Resume.
func (s *stream) Pause() { s.turn.Pause() }

// Resume waits for the turn, unless it is held.
func (s *stream) Resume() error {
	if err := s.turn.Resume(s.ctx); err != nil {
		return fmt.Errorf("response: stream: %w", err)
	}
	return nil
}

// Close implements io.Closer. It drops the rest of the pieces.
func (s *stream) Close() error {
	s.end()
	return nil
}

// end ends the work and releases the acquired memory.
func (s *stream) end() {
	if s.turn != nil {
		s.turn.End()
	}
	s.cancel()
	s.inFlight.Release(s.acquired)
	s.acquired = 0
}
