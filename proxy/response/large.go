package response

import (
	"context"
	"encoding/binary"
	"errors"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"vitrine/cache/fair"
	"vitrine/cache/result"
	"vitrine/cache/view"
)

// sendLarge sends an answer too large to be kept: compressed it may be small
// enough after all; otherwise it is made while it goes out.
func (r *Responder) sendLarge(ctx context.Context, c *fiber.Ctx, p *Plan, snapshot *view.Snapshot, key result.Key) error {
	if p.Prepared && key.Coding != result.Identity && negotiate(c.Get(fiber.HeaderAcceptEncoding), r.joinable) == result.Gzip {
		key.Coding = result.Gzip // in blocks that other lists and the next generation have too
	}
	if key.Coding != result.Identity {
		packed := key
		packed.Query, packed.Coding = "packed "+string(key.Coding)+"\x00"+key.Query, result.Identity
		a, outcome, err := r.results.Get(ctx, packed, r.packer(p, snapshot, key))
		if err != nil && !errors.Is(err, result.ErrInFlight) {
			return err
		}
		if err == nil && !a.TooLarge {
			SetHeader(c, headerCacheStatus, r.ages.of(p.View).cacheStatus(outcome))
			if err := r.Send(c, a); !errors.Is(err, result.ErrInFlight) {
				return err
			}
		}
	}
	return r.sendStream(ctx, c, p, snapshot, key)
}

// mostPacked is how many times the longest answer that is kept a body may have, as far
// as is known, to be compressed as a whole: for one that is longer the client would wait
// too long.
const mostPacked = 8

// packer compresses a large answer as it is made, and gives up where even that
// becomes too large or takes half of the request's time: the rest is for a stream.
func (r *Responder) packer(p *Plan, snapshot *view.Snapshot, key result.Key) result.Loader {
	return func(ctx context.Context) (*result.Answer, error) {
		if err := fair.TurnOf(ctx).Costly(ctx); err != nil { // its blocks take turns of their own
			return nil, err
		}
		b, err := p.build(ctx, snapshot)
		if err != nil {
			return nil, err
		}
		if b.Guess > mostPacked*r.options.KeptBytes {
			return &result.Answer{TooLarge: true}, nil
		}
		packing, cancel := ctx, func() {}
		if r.options.Timeout > 0 {
			packing, cancel = context.WithTimeout(ctx, r.options.Timeout/2)
		}
		defer cancel()
		out, err := r.gather(packing, r.coded(b, key.Coding), r.options.KeptBytes)
		if err != nil && packing.Err() != nil && ctx.Err() == nil {
			err = nil
		}
		if err != nil || out == nil {
			return &result.Answer{TooLarge: true}, err
		}
		return &result.Answer{Body: out, ETag: largeTag(key, b), ContentType: ContentType, Coding: key.Coding, Count: b.Count, Ignored: b.ignored}, nil
	}
}

// sendStream sends a body that is made while it goes out. The error is
// result.ErrInFlight where too much waits to be sent.
func (r *Responder) sendStream(ctx context.Context, c *fiber.Ctx, p *Plan, snapshot *view.Snapshot, key result.Key) error {
	var b *Body
	err := r.results.Turn(ctx, func(ctx context.Context) (err error) {
		if _, resident := snapshot.Resident(); !resident {
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
	etag, head := largeTag(key, b), c.Method() == fiber.MethodHead
	same, claimed := unchanged(c, etag), int64(0)
	if !same && !head {
		if key.Coding, claimed = r.claim(b, key.Coding); claimed == 0 {
			return result.ErrInFlight
		}
		etag = largeTag(key, b)
	}
	SetHeader(c, fiber.HeaderETag, etag)
	SetHeader(c, headerCacheStatus, r.ages.of(p.View).streamed())
	if same {
		return c.SendStatus(fiber.StatusNotModified)
	}
	c.Response().Header.SetContentType(ContentType)
	size := -1
	if key.Coding == result.Identity {
		if b.size != nil {
			size = b.size()
		}
	} else {
		SetHeader(c, fiber.HeaderContentEncoding, string(key.Coding))
	}
	if size < 0 && head {
		return nil // of a stream of unknown length fasthttp would send the end, which no client expects
	}
	r.sendPieces(c, r.coded(b, key.Coding), size, func() { r.results.InFlight().Give(claimed) })
	return nil
}

// streamBytes is about what a stream holds beside what its connection does: a piece and
// its parts.
const streamBytes = chunk + chunk/2

// claim claims the memory for a stream: in its coding, or where there is too little
// for that, as it is. It returns the coding and how many bytes are to be given back; 0
// where there is too little for either.
func (r *Responder) claim(b *Body, coding result.Coding) (result.Coding, int64) {
	needed := streamBytes + result.StreamBytes(coding)
	if joint(b, coding) {
		needed = 2 * streamBytes // blocks are compressed by turns
	}
	if coding != result.Identity && r.results.InFlight().Take(needed) {
		return coding, needed
	}
	if r.results.InFlight().TakeLittle(streamBytes) {
		return result.Identity, streamBytes
	}
	return coding, 0
}

// largeTag is the tag of an answer that is never held as a whole: of what
// determines it instead of its bytes. Where the bytes depend on how the rows lie in
// this process's memory, which another front end may have otherwise, that is part of it.
func largeTag(key result.Key, b *Body) string {
	by := key.View + "\x00" + key.Epoch + "\x00" + strconv.FormatUint(key.Generation, 36) + "\x00" + key.Query
	if !joint(b, key.Coding) {
		return result.Tag(by, key.Coding)
	}
	text := append([]byte(by), 0)
	for g := range groups(b.blocks.runs) {
		text = binary.AppendUvarint(text, uint64(g.size))
	}
	return result.Tag(string(text), key.Coding)
}

// joint reports whether a body in a coding is put together from blocks.
func joint(b *Body, c result.Coding) bool { return c == result.Gzip && b.blocks != nil }

// coded is a body as it is sent.
func (r *Responder) coded(b *Body, c result.Coding) Pieces {
	switch {
	case c == result.Identity:
		return b.Pieces
	case joint(b, c):
		return r.inBlocks(b)
	default:
		return compressed(b, c)
	}
}
