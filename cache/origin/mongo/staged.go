package mongo

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"vitrine/cache/origin"
)

// staged is the collection of prepared rows, of all views.
func (s *Store) staged() collection {
	return collection{s.views.Collection(origin.SidePrefix + "staged")}
}

// stagedRange finds the staged rows of a view's attempts in [from, to).
func stagedRange(view string, from, to uint64) bson.D {
	return bson.D{{Key: "_id", Value: bson.D{
		{Key: "$gte", Value: stagedPrefix(view, from)}, {Key: "$lt", Value: stagedPrefix(view, to)},
	}}}
}

// stage writes rows to view_staged; of equal ids the last counts.
func (s *Store) stage(ctx context.Context, prefix string, generation uint64, rows []origin.Row) error {
	for len(rows) > 0 {
		n := chunk(rows, s.o.BatchSize, func(r origin.Row) int { return len(r.Doc) })
		place := make(map[string]int, n)
		docs := make([]stagedRow, 0, n)
		for _, r := range rows[:n] {
			id, err := stagedID(prefix, r.ID)
			if err != nil {
				return err
			}
			doc, err := stagedDoc(id, r, generation)
			if err != nil {
				return err
			}
			if at, again := place[id]; again {
				docs[at].doc = doc
				continue
			}
			place[id] = len(docs)
			docs = append(docs, stagedRow{id, doc})
		}
		if err := s.insertStaged(ctx, docs); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// stagedRow is a document of view_staged and its _id.
type stagedRow struct {
	id  string
	doc bson.Raw
}

// insertStaged inserts rows. Those that are there already, from an earlier Put of
// the same publication, are few or none: they are found by the insert's failure
// and replaced.
func (s *Store) insertStaged(ctx context.Context, rows []stagedRow) error {
	docs := make([]any, len(rows))
	for i, r := range rows {
		docs[i] = r.doc
	}
	err := s.staged().insertMany(ctx, docs)
	again, ok := onlyDuplicates(err, len(docs))
	if err == nil || !ok {
		return storeError(err)
	}
	models := make([]driver.WriteModel, len(again))
	for i, at := range again {
		models[i] = driver.NewReplaceOneModel().SetFilter(bson.D{{Key: "_id", Value: rows[at].id}}).SetReplacement(rows[at].doc)
	}
	_, err = s.staged().bulkWrite(ctx, models)
	return storeError(err)
}

// discard deletes the staged rows of attempts before the given one. They can never
// be committed any more; where one of them was, it is settled.
func (s *Store) discard(ctx context.Context, view string, before uint64) error {
	o := options.Find().SetProjection(bson.D{{Key: "_id", Value: 1}}).SetLimit(int64(s.o.BatchSize))
	for {
		var ids []bson.RawValue
		for doc, err := range documents(ctx, s.staged(), stagedRange(view, 0, before), o) {
			if err != nil {
				return err
			}
			ids = append(ids, doc.Lookup("_id"))
		}
		if len(ids) == 0 {
			return nil
		}
		if _, err := deleteIDs(ctx, s.staged(), ids, s.o.BatchSize); err != nil {
			return err
		}
	}
}

// settle folds the staged rows of the committed generation into the view's
// collection. It may be killed and repeated anywhere, and even run twice at a
// time: a row is deleted from view_staged only after it was folded in, and folding
// it in again finds a version that is not older and leaves it.
func (s *Store) settle(ctx context.Context, d metaDoc, lease origin.Lease) error {
	for d.Staged != 0 {
		if err := s.checkLease(ctx, lease); err != nil {
			return err
		}
		ids, rows, err := s.stagedBatch(ctx, stagedRange(d.View, d.Staged, d.Staged+1))
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			break
		}
		if err := s.fold(ctx, d.View, rows); err != nil {
			return err
		}
		if _, err := deleteIDs(ctx, s.staged(), ids, s.o.BatchSize); err != nil {
			return err
		}
	}
	mine := bson.D{{Key: "_id", Value: d.View}, {Key: "staged", Value: d.Staged}}
	done := bson.D{{Key: "$set", Value: bson.D{{Key: "staged", Value: int64(0)}}}}
	_, err := s.metas().updateOne(ctx, mine, done)
	return storeError(err)
}

// stagedBatch reads as many staged rows as one write command should take.
func (s *Store) stagedBatch(ctx context.Context, filter bson.D) (ids []bson.RawValue, rows []origin.Row, err error) {
	size := 0
	o := options.Find().SetLimit(int64(s.o.BatchSize))
	for doc, err := range documents(ctx, s.staged(), filter, o) {
		if err != nil {
			return nil, nil, err
		}
		r, err := decode(doc)
		if err != nil {
			return nil, nil, err
		}
		ids, rows = append(ids, doc.Lookup("_id")), append(rows, r)
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
		_, err = s.side(view).bulkWrite(ctx, models)
		if err == nil {
			return nil
		}
		if _, ok := onlyDuplicates(err, len(models)); !ok {
			return storeError(err)
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
	o := options.Find().SetProjection(bson.D{{Key: viewField, Value: 1}})
	for r, err := range rowsOf(ctx, s.side(view), bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}}, o) {
		if err != nil {
			return nil, err
		}
		there[mapKey(r.ID)] = r.Generation
	}
	return slices.DeleteFunc(slices.Clone(rows), func(r origin.Row) bool { return there[mapKey(r.ID)] >= r.Generation }), nil
}
