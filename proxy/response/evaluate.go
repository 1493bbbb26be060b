package response

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"time"

	"vitrine/cache/fair"
	"vitrine/cache/result"
	"vitrine/cache/view"
)

// loader returns the function that computes the plain answer. It sets built, if not nil, to the body, which can be
// streamed if the answer is too large to keep.
func (r *request) loader(built **Body) result.Loader {
	return func(ctx context.Context) (*result.Answer, error) {
		ctx, release := r.Results.InFlight().Claim(ctx)
		defer release()
		b, err := r.plan.build(ctx, r.snapshots)
		if err != nil {
			return nil, err
		}
		// A body that turns out too large is streamed by the same request, which then need not evaluate it again.
		if built != nil {
			*built = b
		}
		if max(b.size, b.SizeHint) > r.KeptBytes {
			return &result.Answer{TooLarge: true}, nil
		}
		out, err := gather(ctx, b.Pieces(ctx), cmp.Or(b.size, r.KeptBytes), r.Results.InFlight())
		if err = cmp.Or(err, r.snapshots.intact()); err != nil || out == nil {
			return &result.Answer{TooLarge: true}, err
		}
		a := result.NewAnswer(out, r.plan.ContentType)
		a.Ignored, a.Links, a.Made = b.Ignored, b.Links, time.Now()
		return a, nil
	}
}

// maxCompressed bounds the estimated body that is compressed to be kept, in sizes of the largest kept answer.
const maxCompressed = 16

// errReplaced reports that the answer being made would not be requested any more.
var errReplaced = errors.New("response: the view has a newer snapshot")

// compress makes the answer to a request whose plain body is too large to keep. It keeps the compressed answer,
// unless that is too large, too. It has no time limit, but ends when a newer snapshot is shown. It counts only the
// memory of the compressor as in flight, because one answer is made at a time.
func (r *request) compress(ctx context.Context) {
	keep, err := r.Results.Prepare(ctx, r.key, func(ctx context.Context) (*result.Answer, error) {
		if err := cmp.Or(r.replaced(), fair.TurnOf(ctx).Costly(ctx)); err != nil {
			return nil, err
		}
		ctx, release := r.Results.InFlight().Claim(ctx)
		defer release()
		b, err := r.plan.build(ctx, r.snapshots)
		if err != nil {
			return nil, err
		}
		never, most := &result.Answer{TooLarge: true, Incompressible: true}, r.Results.Largest()
		if b.SizeHint > maxCompressed*most {
			return never, nil
		}
		// The body is compressed piece by piece, so that it is never in memory as a whole: this counts what that
		// takes.
		needed := b.making() + result.StreamBytes(r.key.Coding)
		if !r.Results.InFlight().TryAcquire(needed) {
			return nil, result.ErrInFlight
		}
		defer r.Results.InFlight().Release(needed)
		release() // needed includes what the body holds
		out, err := gather(ctx, r.untilReplaced(b.in(ctx, r.key.Coding)), most, nil)
		if err == nil && out == nil {
			return never, nil
		}
		return &result.Answer{
			Body: out, ETag: streamTag(&r.key), ContentType: r.plan.ContentType, Coding: r.key.Coding,
			Links: b.Links, Ignored: b.Ignored, Made: time.Now(), TooLarge: true,
		}, err
	})
	if err == nil {
		keep()
	}
}

// replaced returns errReplaced once a newer answer has taken the place of the request's.
func (r *request) replaced() error {
	current, err := r.plan.on(r.Views)
	_, moved := errors.AsType[*view.MovedError](err)
	if moved || err == nil && r.plan.keyOn(current, r.key.Coding) != r.key {
		return errReplaced
	}
	return nil
}

// untilReplaced yields pieces, and an error once the request is replaced or its rows are lost.
func (r *request) untilReplaced(all Pieces) Pieces {
	return func(yield func([]byte, error) bool) {
		for piece, err := range all {
			if err = cmp.Or(err, r.replaced(), r.snapshots.intact()); !yield(piece, err) || err != nil {
				return
			}
		}
	}
}

// freeBytes is how many bytes a load may join without acquiring memory for them.
const freeBytes = 256 << 10

// gather joins pieces in memory, which it acquires from a budget unless that is nil. It returns nil if they have more
// than most bytes. The error is result.ErrInFlight if there is too little memory.
func gather(ctx context.Context, all Pieces, most int, budget *result.InFlight) ([]byte, error) {
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
		if budget != nil && before <= freeBytes && size > freeBytes {
			acquired, err := budget.AcquireToMake(2 * int64(most)) // twice, for the parts and the whole
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
