package mongo

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/batch"
	"vitrine/cache/origin/internal/registry"
	"vitrine/rules/raw"
)

// publisher stages, folds in and prunes rows, by the protocol of the package comment.
//
// One late write does harm: a process settles, sleeps in the middle for more than KeepDeltas generations and then
// writes a row that was deleted since, with its tombstone. The row stays until a job compares all hashes.
type publisher struct {
	store *Store
	metas registry.Table[registry.View]
	keep  uint64 // how many generations deltas reach back
	// stageAlways is set after a bulk load has failed. First generations are then staged.
	stageAlways *atomic.Bool
}

// byGeneration is the index of a view's collection for deltas and RowCount.
var byGeneration = bson.D{{Key: pathGeneration, Value: 1}, {Key: pathGone, Value: 1}}

// stagedRange returns the filter for the staged rows of the attempts [from, to) at a view.
func stagedRange(view string, from, to uint64) bson.D {
	return bson.D{{Key: "_id", Value: bson.D{
		{Key: "$gte", Value: stagedPrefix(view, from)}, {Key: "$lt", Value: stagedPrefix(view, to)},
	}}}
}

// stage is registry.Rows.Put. It needs no check of the attempt: the rows of an attempt that is not the latest are
// never committed.
func (p publisher) stage(ctx context.Context, d registry.View, rows []origin.Row) error {
	prefix := stagedPrefix(d.View, d.Attempt)
	return p.store.side("staged").insertRows(ctx, rows, func(r origin.Row) (bson.Raw, error) {
		return stagedDoc(prefix, r, d.Next())
	})
}

// sizeOf returns the size of a row's document in bytes.
func sizeOf(r origin.Row) int { return len(r.Doc) }

// insertRows inserts the documents that encode makes of rows.
func (c collection) insertRows(
	ctx context.Context, rows []origin.Row, encode func(origin.Row) (bson.Raw, error),
) error {
	for part := range batch.Of(rows, c.store.batch, batchBytes, sizeOf) {
		models := make([]driver.WriteModel, len(part))
		for i, r := range part {
			doc, err := encode(r)
			if err != nil {
				return err
			}
			models[i] = driver.NewInsertOneModel().SetDocument(doc)
		}
		if _, err := c.write(ctx, models...); err != nil {
			return err
		}
	}
	return nil
}

// settleBytes is how many bytes of rows a publication keeps in memory for settle. A few hundred changed records
// have that many; most publications have fewer.
const settleBytes = 4 << 20

// settle folds the staged rows of the committed generation into the view's collection. It may be killed and repeated
// anywhere, even run twice at a time: it deletes a staged row after folding it in, and replaces only older rows.
//
// own has rows that this process has staged. settle does not read them back, but only asks which of them are still
// staged: another process may have settled the others, and published since. settle reads all other staged rows: those
// beyond settleBytes, those of a killed publisher, and those that an operator has inserted by hand.
func (p publisher) settle(ctx context.Context, d registry.View, lease origin.Lease, own []origin.Row) error {
	if d.Staged == 0 {
		return p.prune(ctx, d)
	}
	for part := range batch.Of(own, p.store.batch, batchBytes, sizeOf) {
		_, err := p.settleBatch(ctx, d, lease, func() ([]bson.RawValue, []origin.Row, error) {
			return p.stillStaged(ctx, d, part)
		})
		if err != nil {
			return err
		}
	}
	for {
		n, err := p.settleBatch(ctx, d, lease, func() ([]bson.RawValue, []origin.Row, error) {
			return p.stagedBatch(ctx, d)
		})
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
	}
	_, err := p.metas.Update(ctx, d.View, func(now *registry.View) error {
		if now.Staged == d.Staged {
			now.Staged = 0
		}
		return nil
	})
	if err != nil {
		return err
	}
	return p.prune(ctx, d)
}

// settleBatch folds in the staged rows that read returns with the _ids of their documents, and deletes these. It
// returns how many there were.
func (p publisher) settleBatch(
	ctx context.Context, d registry.View, lease origin.Lease,
	read func() (ids []bson.RawValue, rows []origin.Row, err error),
) (int, error) {
	if err := p.store.Check(ctx, lease); err != nil {
		return 0, err
	}
	ids, rows, err := read()
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	if err := p.fold(ctx, d.View, rows); err != nil {
		return 0, err
	}
	_, err = p.store.side("staged").deleteIDs(ctx, ids)
	return len(ids), err
}

// stillStaged returns those rows of own that are still staged for the committed generation, and the _ids of their
// documents. It reads only the _ids.
func (p publisher) stillStaged(
	ctx context.Context, d registry.View, own []origin.Row,
) (ids []bson.RawValue, rows []origin.Row, err error) {
	prefix, byID := stagedPrefix(d.View, d.Staged), make(map[string]origin.Row, len(own))
	wanted := make([]bson.RawValue, 0, len(own))
	for _, r := range own {
		id, err := stagedID(prefix, r.ID)
		if err != nil {
			return nil, nil, err
		}
		r.Generation = d.Generation
		wanted, byID[id.StringValue()] = append(wanted, id), r
	}
	filter, onlyID := is(bson.D{{Key: "$in", Value: wanted}}), options.Find().SetProjection(is(1))
	for doc, err := range p.store.side("staged").documents(ctx, filter, onlyID) {
		if err != nil {
			return nil, nil, err
		}
		id := doc.Lookup("_id")
		if r, ok := byID[id.StringValue()]; ok {
			ids, rows = append(ids, raw.Clone(id)), append(rows, r)
		}
	}
	return ids, rows, nil
}

// stagedBatch reads the committed staged rows for one write command, and the _ids of their documents. It leaves out a
// malformed row, which settle deletes with the others: the generation then has fewer versions than its meta counts,
// see rowCounts.
func (p publisher) stagedBatch(
	ctx context.Context, d registry.View,
) (ids []bson.RawValue, rows []origin.Row, err error) {
	size, filter := 0, stagedRange(d.View, d.Staged, d.Staged+1)
	o := options.Find().SetLimit(int64(p.store.batch))
	for doc, err := range p.store.side("staged").documents(ctx, filter, o) {
		if err != nil {
			return nil, nil, err
		}
		ids = append(ids, raw.Clone(doc.Lookup("_id")))
		if r, err := decodeStaged(doc, d.Generation); err == nil {
			rows = append(rows, r)
		}
		if size += len(doc); size > batchBytes {
			break
		}
	}
	return ids, rows, nil
}

// fold writes rows into the view's collection, unless it has a version that is as new. If another process writes one
// between our read and our write, ours fails on the existing _id, and fold starts again. New rows are inserted,
// because some servers read the whole collection for an upsert with two conditions.
func (p publisher) fold(ctx context.Context, view string, rows []origin.Row) error {
	for {
		rest, there, err := p.outdatedRows(ctx, view, rows)
		if err != nil || len(rest) == 0 {
			return err
		}
		models := make([]driver.WriteModel, len(rest))
		for i, r := range rest {
			doc, err := sideDoc(r)
			if err != nil {
				return err
			}
			if _, known := there[mapKey(r.ID)]; !known {
				models[i] = driver.NewInsertOneModel().SetDocument(doc)
				continue
			}
			older := append(byID(r.ID), generations("$lt", r.Generation)...)
			if there[mapKey(r.ID)] == 0 { // malformed: its generation may be no number, which $lt never matches
				newer := bson.D{{Key: "$gte", Value: r.Generation}}
				older = append(byID(r.ID), bson.E{Key: pathGeneration, Value: bson.D{{Key: "$not", Value: newer}}})
			}
			models[i] = driver.NewReplaceOneModel().SetFilter(older).SetReplacement(doc).SetUpsert(true)
		}
		_, err = p.store.side(view).write(ctx, models...)
		if err == nil {
			return nil
		}
		if !onlyDuplicates(err) {
			return err
		}
	}
}

// outdatedRows returns the rows that the view's collection lacks or has in an older version, and the generations of
// the rows that it has, which are 0 for malformed ones.
func (p publisher) outdatedRows(ctx context.Context, view string, rows []origin.Row) (rest []origin.Row,
	there map[string]uint64, err error) {
	ids := make([]bson.RawValue, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	there = map[string]uint64{}
	for r, err := range p.store.side(view).rows(ctx, is(bson.D{{Key: "$in", Value: ids}}), onlyInfo()) {
		if err != nil && !errors.Is(err, errMalformedRow) {
			return nil, nil, err
		}
		there[mapKey(r.ID)] = r.Generation
	}
	return slices.DeleteFunc(slices.Clone(rows),
		func(r origin.Row) bool { return there[mapKey(r.ID)] >= r.Generation }), there, nil
}

// discard deletes the staged rows of earlier attempts, and of this attempt's number, which a restored meta may give
// out again. It also deletes rows above the committed generation: they come from a backup of different moments, and
// fold would consider them newer than the next rows. If nothing was ever published, all rows belong to a view whose
// meta was lost, or to an attempt that was not committed. discard also creates the index for deltas and RowCount,
// unless the view's collection does not exist: a bulk load brings its own.
func (p publisher) discard(ctx context.Context, d registry.View) error {
	before, exists := d.Attempt+1, true // earlier attempts are settled or can no longer be committed
	if d.Generation == 0 {
		before = math.MaxUint64
		var err error
		if exists, err = p.dropBulkLoads(ctx, d); err != nil {
			return err
		}
	}
	if exists {
		if err := p.discardRows(ctx, d); err != nil {
			return err
		}
	}
	_, err := p.store.side("staged").deleteMany(ctx, stagedRange(d.View, 0, before))
	return err
}

// discardRows deletes the rows of the view's collection above the committed generation, and creates its index.
func (p publisher) discardRows(ctx context.Context, d registry.View) error {
	rows := p.store.side(d.View)
	if err := rows.index(ctx, byGeneration); err != nil {
		return err
	}
	foreign := generations("$gt", d.Generation)
	if d.Generation == 0 {
		foreign = bson.D{}
	}
	there, err := rows.count(ctx, foreign)
	if err != nil || there == 0 {
		return err
	}
	now, err := p.store.Read(ctx, d.View)
	if err == nil && now.Attempt != d.Attempt {
		err = registry.Outdated(now, d) // the rows belong to a later publication
	}
	if err == nil {
		_, err = rows.deleteMany(ctx, foreign)
	}
	return err
}

// prune deletes tombstones older than the deltas that are kept. It first records how far deltas reach, so that
// readers that need the tombstones get origin.ErrStale.
func (p publisher) prune(ctx context.Context, d registry.View) error {
	pruned := d.Pruned
	if d.Generation > p.keep {
		pruned = max(pruned, d.Generation-p.keep)
	}
	if d.Swept >= pruned {
		return nil
	}
	update := func(change func(now *registry.View)) error {
		_, err := p.metas.Update(ctx, d.View, func(now *registry.View) error {
			if now.Attempt != d.Attempt {
				return registry.Outdated(*now, d) // a later publication has begun
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
	if _, err := p.store.side(d.View).deleteMany(ctx, old); err != nil {
		return err
	}
	return update(func(now *registry.View) { now.Swept = max(now.Swept, pruned) })
}
