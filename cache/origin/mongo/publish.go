package mongo

import (
	"context"
	"math"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/batch"
	"vitrine/cache/origin/internal/registry"
	"vitrine/rules/raw"
)

// What this store does in a publication; the package comment describes the protocol.
//
// One late write looks like a timely one: a process that settles, sleeps
// in the middle for longer than KeepDeltas generations and then writes a row that
// was since taken away and whose tombstone is deleted. That row comes back until
// the next job, which compares all hashes with the source, takes it away again.

// stagedRange finds the staged rows of a view's attempts in [from, to).
func stagedRange(view string, from, to uint64) bson.D {
	return bson.D{{Key: "_id", Value: bson.D{
		{Key: "$gte", Value: stagedPrefix(view, from)}, {Key: "$lt", Value: stagedPrefix(view, to)},
	}}}
}

// stage writes rows to view_staged.
func (s *Store) stage(ctx context.Context, d registry.View, rows []origin.Row) error {
	prefix := stagedPrefix(d.View, d.Attempt)
	for part := range batch.Of(rows, s.batch, batchBytes, func(r origin.Row) int { return len(r.Doc) }) {
		models := make([]driver.WriteModel, len(part))
		for i, r := range part {
			doc, err := stagedDoc(prefix, r, d.Next())
			if err != nil {
				return err
			}
			models[i] = driver.NewInsertOneModel().SetDocument(doc)
		}
		if _, err := s.side("staged").write(ctx, models...); err != nil {
			return err
		}
	}
	return nil
}

// settle folds the staged rows of the committed generation into the view's
// collection. It may be killed and repeated anywhere, and even run twice at a
// time: a row is deleted from view_staged only after it was folded in, and folding
// it in again finds a version that is not older and leaves it.
func (s *Store) settle(ctx context.Context, d registry.View, lease origin.Lease) error {
	for d.Staged != 0 {
		if err := s.Check(ctx, lease); err != nil {
			return err
		}
		ids, rows, err := s.stagedBatch(ctx, stagedRange(d.View, d.Staged, d.Staged+1))
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			_, err = s.metas.Update(ctx, d.View, func(now *registry.View) error {
				if now.Staged == d.Staged {
					now.Staged = 0
				}
				return nil
			})
			if err != nil {
				return err
			}
			break
		}
		if err := s.fold(ctx, d.View, rows); err != nil {
			return err
		}
		if _, err := s.side("staged").deleteIDs(ctx, ids); err != nil {
			return err
		}
	}
	return s.prune(ctx, d)
}

// stagedBatch reads as many staged rows as one write command should take.
func (s *Store) stagedBatch(ctx context.Context, filter bson.D) (ids []bson.RawValue, rows []origin.Row, err error) {
	size := 0
	o := options.Find().SetLimit(int64(s.batch))
	for doc, err := range s.side("staged").documents(ctx, filter, o) {
		if err != nil {
			return nil, nil, err
		}
		r, err := decode(doc)
		if err != nil {
			return nil, nil, err
		}
		ids, rows = append(ids, raw.Clone(doc.Lookup("_id"))), append(rows, r)
		if size += len(doc); size > batchBytes {
			break
		}
	}
	return ids, rows, nil
}

// fold writes rows into the view's collection, except where a version is there
// that is as new. Should one get there between look and write, the condition on
// the generation finds nothing, and the insert that upsert tries instead meets the
// existing _id; then it looks again.
func (s *Store) fold(ctx context.Context, view string, rows []origin.Row) error {
	for {
		rest, err := s.notFolded(ctx, view, rows)
		if err != nil || len(rest) == 0 {
			return err
		}
		models := make([]driver.WriteModel, len(rest))
		for i, r := range rest {
			doc, err := sideDoc(r)
			if err != nil {
				return err
			}
			older := append(byID(r.ID), bson.E{Key: pathGeneration, Value: bson.D{{Key: "$lt", Value: r.Generation}}})
			models[i] = driver.NewReplaceOneModel().SetFilter(older).SetReplacement(doc).SetUpsert(true)
		}
		_, err = s.side(view).write(ctx, models...)
		if err == nil {
			return nil
		}
		if !onlyDuplicates(err) {
			return err
		}
	}
}

// notFolded returns the rows of which the view's collection has no version as new.
func (s *Store) notFolded(ctx context.Context, view string, rows []origin.Row) ([]origin.Row, error) {
	ids := make([]bson.RawValue, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	there := map[string]uint64{}
	for r, err := range s.side(view).rows(ctx, is(bson.D{{Key: "$in", Value: ids}}), onlyInfo()) {
		if err != nil {
			return nil, err
		}
		there[mapKey(r.ID)] = r.Generation
	}
	return slices.DeleteFunc(slices.Clone(rows), func(r origin.Row) bool { return there[mapKey(r.ID)] >= r.Generation }), nil
}

// discard deletes the staged rows of earlier attempts, and rows of generations that are yet to
// come: a backup brings them whose collections are not of one moment, and fold would take them
// for newer than those that do come. Where nothing was ever published all rows are of an
// earlier life, whose meta was lost. It also makes the index by which deltas find their rows,
// and rows are counted, without a scan.
func (s *Store) discard(ctx context.Context, d registry.View) error {
	if err := s.side(d.View).index(ctx, bson.D{{Key: pathGeneration, Value: 1}, {Key: pathGone, Value: 1}}); err != nil {
		return err
	}
	before := d.Attempt // a staged row of an attempt before can never be committed any more; committed ones are settled
	foreign := bson.D{{Key: pathGeneration, Value: bson.D{{Key: "$gt", Value: d.Generation}}}}
	if d.Generation == 0 {
		before, foreign = math.MaxUint64, bson.D{}
	}
	there, err := s.side(d.View).count(ctx, foreign)
	if err == nil && there > 0 {
		var now registry.View
		if now, err = s.Read(ctx, d.View); err == nil && now.Attempt != d.Attempt {
			err = origin.ErrFenced // they are of a later publication
		}
		if err == nil {
			_, err = s.side(d.View).deleteMany(ctx, foreign)
		}
	}
	if err == nil {
		_, err = s.side("staged").deleteMany(ctx, stagedRange(d.View, 0, before))
	}
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
