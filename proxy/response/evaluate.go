package response

import (
	"bytes"
	"cmp"
	"context"
	"strconv"

	"vitrine/cache/fair"
	"vitrine/cache/result"
)

// loader returns the function that computes the plain answer of a request. If built is not nil, it is set to the body,
// so that an answer too large to keep can be streamed without building it again.
func (r *request) loader(built **Body) result.Loader {
	return func(ctx context.Context) (*result.Answer, error) {
		b, err := r.plan.build(ctx, r.snapshot)
		if err != nil {
			return nil, err
		}
		if built != nil {
			*built = b
		}
		if max(b.size, b.Guess) > r.KeptBytes {
			return &result.Answer{TooLarge: true}, nil
		}
		out, err := r.gather(ctx, b.Pieces(ctx), cmp.Or(b.size, r.KeptBytes))
		if err != nil || out == nil {
			return &result.Answer{TooLarge: true}, err
		}
		a := result.NewAnswer(out, r.plan.ContentType)
		a.Ignored, a.Links = b.ignored, b.Links
		return a, nil
	}
}

// maxCompressed bounds the estimated size of a body that is compressed to be kept, as a multiple of the size of the
// largest kept answer.
const maxCompressed = 8

// compress makes the answer to a request whose plain body is too large to keep. It keeps the compressed answer, unless
// that is too large, too, or takes more than half of a request's time.
func (r *request) compress(ctx context.Context) {
	keep, err := r.Results.Prepare(ctx, r.key, func(ctx context.Context) (*result.Answer, error) {
		if err := fair.TurnOf(ctx).Costly(ctx); err != nil {
			return nil, err
		}
		b, err := r.plan.build(ctx, r.snapshot)
		if err != nil {
			return nil, err
		}
		never := &result.Answer{TooLarge: true, Incompressible: true}
		if b.Guess > maxCompressed*r.KeptBytes {
			return never, nil
		}
		needed := b.making() + result.StreamBytes(r.key.Coding)
		if !r.Results.InFlight().TryAcquire(needed) {
			return nil, result.ErrInFlight
		}
		defer r.Results.InFlight().Release(needed)
		limited, cancel := context.WithTimeout(ctx, r.Timeout/2)
		defer cancel()
		out, err := r.gather(limited, b.in(limited, r.key.Coding), r.KeptBytes)
		if err == nil && out == nil || err != nil && limited.Err() != nil && ctx.Err() == nil {
			return never, nil
		}
		return &result.Answer{
			Body: out, ETag: r.streamTag(), ContentType: r.plan.ContentType, Coding: r.key.Coding,
			Links: b.Links, Ignored: b.ignored, TooLarge: true,
		}, err
	})
	if err == nil {
		keep()
	}
}

// freeBytes is how many bytes a load may join without acquiring memory for them.
const freeBytes = 256 << 10

// gather joins pieces in memory. It returns nil if they have more than most bytes. The error is result.ErrInFlight if
// there is too little memory.
func (r *request) gather(ctx context.Context, all Pieces, most int) ([]byte, error) {
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
		if before <= freeBytes && size > freeBytes {
			acquired, err := r.Results.InFlight().AcquireToMake(2 * int64(most)) // twice, for the parts and the whole
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

// streamTag returns the tag of an answer whose plain body is never in memory as a whole. It is a hash of the key, which
// determines the bytes.
func (r *request) streamTag() string {
	k := &r.key
	by := k.View + "\x00" + k.Epoch + "\x00" + strconv.FormatUint(k.Generation, 36) + " " + strconv.FormatInt(k.Published, 36) + "\x00" + k.Query
	return result.Tag(by, k.Coding)
}
