package mongo

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/batch"
	"vitrine/cache/origin/internal/wrap"
	"vitrine/rules/raw"
)

// Upsert implements origin.Importer. A batch is not atomic: after an error, some of its documents are stored, and
// the counts include them. An import that is run again replaces them.
func (s *Store) Upsert(ctx context.Context, name string, docs []bson.Raw) (done origin.UpsertCounts, err error) {
	if err := origin.CheckCollection(name); err != nil {
		return done, err
	}
	defer wrap.Error(&err, "store documents in %s", name)
	for docs := range batch.Of(docs, s.batch, batchBytes, func(d bson.Raw) int { return len(d) }) {
		models := make([]driver.WriteModel, len(docs))
		for i, doc := range docs {
			id, err := raw.ValidID(doc)
			if err == nil {
				// put _id first, as the server does: the driver takes a first key with $ for an operator
				doc, err = raw.PutID(doc, id)
			}
			if err != nil {
				return done, fmt.Errorf("document %d: %w", i, err)
			}
			models[i] = driver.NewReplaceOneModel().SetFilter(byID(id)).SetReplacement(doc).SetUpsert(true)
		}
		part, err := s.collection(name).write(ctx, models...)
		done.Inserted += int(part.UpsertedCount)
		done.Replaced += int(part.MatchedCount)
		if err != nil {
			return done, bulkError(err, docs)
		}
	}
	return done, nil
}

// bulkError adds the number of documents that the server refused, and the _id of the first.
func bulkError(err error, docs []bson.Raw) error {
	bulk, ok := errors.AsType[driver.BulkWriteException](err)
	if !ok || len(bulk.WriteErrors) == 0 {
		return err
	}
	first := bulk.WriteErrors[0].Index
	if first < 0 || first >= len(docs) {
		return err
	}
	return fmt.Errorf("%d refused, the first with _id %s: %w", len(bulk.WriteErrors), docs[first].Lookup("_id"), err)
}

// Retain implements origin.Importer. It reads all ids before it deletes any, so that keep sees a collection that
// does not change under its cursor.
func (s *Store) Retain(ctx context.Context, name string, keep func(id bson.RawValue) bool) (removed int, err error) {
	if err := origin.CheckCollection(name); err != nil {
		return 0, err
	}
	defer wrap.Error(&err, "delete documents of %s", name)
	var refused []bson.RawValue
	onlyID := options.Find().SetProjection(bson.D{{Key: "_id", Value: 1}})
	for doc, err := range s.collection(name).documents(ctx, bson.D{}, onlyID) {
		if err != nil {
			return 0, err
		}
		if id := doc.Lookup("_id"); !keep(id) {
			refused = append(refused, raw.Clone(id))
		}
	}
	return s.collection(name).deleteIDs(ctx, refused)
}
