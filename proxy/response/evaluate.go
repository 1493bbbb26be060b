package response

import (
	"bytes"
	"context"
	"encoding/binary"
	"strconv"

	"vitrine/cache/fair"
	"vitrine/cache/result"
	"vitrine/cache/view"
)

// loader computes the plain answer of a plan.
func (r *Responder) loader(p *Plan, snapshot *view.Snapshot) result.Loader {
	return func(ctx context.Context) (*result.Answer, error) {
		b, err := p.build(ctx, snapshot)
		if err != nil {
			return nil, err
		}
		size := r.KeptBytes
		if b.prepared != nil {
			size = b.prepared.size()
		}
		if max(size, b.Guess) > r.KeptBytes {
			return &result.Answer{TooLarge: true}, nil
		}
		out, err := r.gather(ctx, b.Pieces(ctx), size)
		if err != nil || out == nil {
			return &result.Answer{TooLarge: true}, err
		}
		a := result.NewAnswer(out, p.ContentType, b.Count)
		a.Ignored, a.Links = b.ignored, b.Links
		return a, nil
	}
}

// mostPacked is how many times the longest answer that is kept a body may have, as far
// as is known, to be compressed as a whole: for one that is longer the client would wait
// too long.
const mostPacked = 8

// packer compresses a large answer as it is made, and gives up where even that
// becomes too large or takes half of the request's time: the rest is for a stream.
func (r *Responder) packer(p *Plan, snapshot *view.Snapshot, key result.Key) result.Loader {
	return func(ctx context.Context) (*result.Answer, error) {
		if err := fair.TurnOf(ctx).Costly(ctx); err != nil {
			return nil, err
		}
		b, err := p.build(ctx, snapshot)
		if err != nil {
			return nil, err
		}
		if b.Guess > mostPacked*r.KeptBytes {
			return &result.Answer{TooLarge: true}, nil
		}
		needed := b.making() + result.StreamBytes(key.Coding)
		if !r.Results.InFlight().TryAcquire(needed) {
			return nil, result.ErrInFlight
		}
		defer r.Results.InFlight().Release(needed)
		packing, cancel := result.WithTimeout(ctx, min(r.Timeout, r.Timeout/2)) // negative stays so
		defer cancel()
		out, err := r.gather(packing, r.coded(packing, b, key.Coding), r.KeptBytes)
		if err != nil && packing.Err() != nil && ctx.Err() == nil {
			err = nil
		}
		if err != nil || out == nil {
			return &result.Answer{TooLarge: true}, err
		}
		return &result.Answer{Body: out, ETag: largeTag(key, b), ContentType: p.ContentType, Coding: key.Coding, Count: b.Count, Links: b.Links, Ignored: b.ignored}, nil
	}
}

// mostUnclaimed is how many bytes a load may join without acquiring memory for them.
const mostUnclaimed = 256 << 10

// gather joins pieces in memory; nil where they have more than most bytes. The error is
// result.ErrInFlight where there is too little memory for that.
func (r *Responder) gather(ctx context.Context, all Pieces, most int) ([]byte, error) {
	var parts [][]byte
	size, release, turn := 0, func() {}, fair.TurnOf(ctx)
	defer func() { release() }()
	for piece, err := range all {
		if err == nil {
			err = turn.Check(ctx)
		}
		if err != nil {
			return nil, err
		}
		before := size
		if size += len(piece); size > most {
			return nil, nil
		}
		if before <= mostUnclaimed && size > mostUnclaimed {
			acquired, err := r.Results.InFlight().AcquireToMake(2 * int64(most)) // the parts and the whole
			if err != nil {
				return nil, err
			}
			release = acquired
		}
		parts = append(parts, bytes.Clone(piece))
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return bytes.Join(parts, nil), nil
}

// coded is a body as it is sent, made in the context's turn.
func (r *Responder) coded(ctx context.Context, b *Body, c result.Coding) Pieces {
	switch {
	case c == result.Identity:
		return b.Pieces(ctx)
	case joint(b, c):
		return r.gzipped(ctx, b.prepared)
	default:
		return compressed(b.Pieces(ctx), c)
	}
}

// joint reports whether a body in a coding is put together from blocks.
func joint(b *Body, c result.Coding) bool { return c == result.Gzip && b.prepared != nil }

// largeTag is the tag of an answer that is never held as a whole: of what
// determines it instead of its bytes. Where the bytes depend on how the rows lie in
// this process's memory, which another front end may have otherwise, that is part of it.
func largeTag(key result.Key, b *Body) string {
	by := key.View + "\x00" + key.Epoch + "\x00" + strconv.FormatUint(key.Generation, 36) + " " + strconv.FormatInt(key.Published, 36) + "\x00" + key.Query
	if !joint(b, key.Coding) {
		return result.Tag(by, key.Coding)
	}
	text := append([]byte(by), 0)
	for g := range b.prepared.blocks() {
		if g.runs != nil {
			text = binary.AppendUvarint(text, uint64(g.size))
		}
	}
	return result.Tag(string(text), key.Coding)
}
