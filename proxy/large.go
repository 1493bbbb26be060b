package proxy

import (
	"context"
	"errors"
	"io"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"vitrine/cache/result"
	"vitrine/cache/view"
)

// largeTag is the tag of an answer that is never held as a whole: of what
// determines it instead of its bytes.
func largeTag(key result.Key) string {
	return result.Tag(key.View+"\x00"+key.Epoch+"\x00"+strconv.FormatUint(key.Generation, 36)+"\x00"+key.Query, key.Coding)
}

// sendLarge sends an answer too large to be kept: compressed it may be small
// enough after all; otherwise it is made while it goes out.
func (s *Server) sendLarge(ctx context.Context, c *fiber.Ctx, p plan, snapshot *view.Snapshot, key result.Key) error {
	etag := largeTag(key)
	if !matches(c.Get(fiber.HeaderIfNoneMatch), etag) && key.Coding != result.Identity {
		packed := key
		packed.Query, packed.Coding = "packed "+string(key.Coding)+"\x00"+key.Query, result.Identity
		a, outcome, err := s.results.Get(ctx, packed, s.packer(p, snapshot, key))
		if err != nil {
			return err
		}
		if !a.TooLarge {
			setHeader(c, headerCacheStatus, cacheStatus(outcome))
			return send(c, a)
		}
	}
	return s.sendStream(ctx, c, p, snapshot, key.Coding, etag)
}

// packer compresses a large answer as it is made, and gives up where even that
// becomes too large.
func (s *Server) packer(p plan, snapshot *view.Snapshot, key result.Key) result.Loader {
	return func(ctx context.Context) (*result.Answer, error) {
		b, err := p.build(ctx, snapshot)
		if err != nil {
			return nil, err
		}
		stream := &stream{pieces: compressed(b, key.Coding)}
		defer stream.Close()
		out := make([]byte, s.limits.KeptBytes+1)
		n, err := io.ReadFull(untilDone{ctx, stream}, out)
		switch {
		case err == nil: // it filled one byte more than may be kept
			return &result.Answer{TooLarge: true}, nil
		case !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
			return nil, err
		}
		body := append(make([]byte, 0, n), out[:n]...)
		return &result.Answer{Body: body, ETag: largeTag(key), ContentType: contentType, Coding: key.Coding, Count: b.count}, nil
	}
}

// untilDone reads until a context ends.
type untilDone struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (u untilDone) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}

// sendStream sends a body that is made while it goes out.
func (s *Server) sendStream(ctx context.Context, c *fiber.Ctx, p plan, snapshot *view.Snapshot, coding result.Coding, etag string) error {
	setHeader(c, fiber.HeaderETag, etag)
	setHeader(c, headerCacheStatus, "vitrine; fwd=bypass; detail=streamed")
	if matches(c.Get(fiber.HeaderIfNoneMatch), etag) {
		return c.SendStatus(fiber.StatusNotModified)
	}
	c.Response().Header.SetContentType(contentType)
	if coding != result.Identity {
		setHeader(c, fiber.HeaderContentEncoding, string(coding))
	}
	b, err := p.build(ctx, snapshot)
	if err != nil {
		return err
	}
	sending, size := plainly(b), -1
	if coding != result.Identity {
		sending = compressed(b, coding)
	} else {
		size = b.size()
	}
	c.Context().SetBodyStream(&stream{pieces: sending, ended: s.metrics.streamed(c)}, size)
	return nil
}
