package mongo

import (
	"context"
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/registry"
)

// What this store does in a publication; the package comment describes the protocol.
//
// One late write looks like a timely one: a process that settles, sleeps
// in the middle for longer than KeepDeltas generations and then writes a row that
// was since taken away and whose tombstone is deleted. That row comes back until
// the next job, which compares all hashes with the source, takes it away again.

// discard deletes the staged rows of earlier attempts. Where nothing was ever published
// all rows are of an earlier life, whose meta was lost. It also makes the index by which
// deltas find their rows without a scan.
func (s *Store) discard(ctx context.Context, d registry.View) error {
	if err := s.side(d.View).index(ctx, bson.D{{Key: pathGeneration, Value: 1}}); err != nil {
		return err
	}
	before := d.Attempt // a staged row of an attempt before can never be committed any more; committed ones are settled
	if d.Generation == 0 {
		before = math.MaxUint64
		if _, err := s.side(d.View).deleteMany(ctx, bson.D{}); err != nil {
			return err
		}
	}
	_, err := s.side("staged").deleteMany(ctx, stagedRange(d.View, 0, before))
	return err
}

// prune deletes tombstones older than the deltas that are kept. How far deltas
// reach is recorded first, then readers that need the tombstones find out.
func (s *Store) prune(ctx context.Context, d registry.View) error {
	pruned := d.Pruned
	if d.Generation > s.keep {
		pruned = max(pruned, d.Generation-s.keep)
	}
	if d.Swept >= pruned {
		return nil
	}
	update := func(change func(now *registry.View)) error {
		_, err := s.metas.Update(ctx, d.View, func(now *registry.View) error {
			if now.Attempt != d.Attempt {
				return origin.ErrFenced // a later publication has begun
			}
			change(now)
			return nil
		})
		return err
	}
	if err := update(func(now *registry.View) { now.Pruned = max(now.Pruned, pruned) }); err != nil {
		return err
	}
	old := bson.D{
		{Key: pathGeneration, Value: bson.D{{Key: "$gt", Value: d.Swept}, {Key: "$lte", Value: pruned}}},
		{Key: pathGone, Value: true},
	}
	if _, err := s.side(d.View).deleteMany(ctx, old); err != nil {
		return err
	}
	return update(func(now *registry.View) { now.Swept = max(now.Swept, pruned) })
}
