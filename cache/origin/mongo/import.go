package mongo

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/idkey"
	"vitrine/rules/raw"
)

// replacement is one document of an Upsert.
type replacement struct {
	id  bson.RawValue
	doc bson.Raw
}

// Upsert implements origin.Importer.
func (s *Store) Upsert(ctx context.Context, collection string, docs []bson.Raw) (done origin.Upserted, err error) {
	if err := origin.CheckCollection(collection); err != nil {
		return done, err
	}
	last, err := lastOfEach(docs)
	if err != nil {
		return done, fmt.Errorf("store documents in %s: %w", collection, err)
	}
	done.Replaced = len(docs) - len(last)
	for len(last) > 0 {
		n := chunk(last, s.o.BatchSize, func(r replacement) int { return len(r.doc) })
		models := make([]driver.WriteModel, n)
		for i, r := range last[:n] {
			models[i] = driver.NewReplaceOneModel().SetFilter(byID(r.id)).SetReplacement(r.doc).SetUpsert(true)
		}
		result, err := s.records(collection).bulkWrite(ctx, models)
		if result != nil {
			done.Inserted += int(result.UpsertedCount)
			done.Replaced += int(result.MatchedCount)
		}
		if err != nil {
			return done, fmt.Errorf("store documents in %s: %w", collection, bulkError(err, last[:n]))
		}
		last = last[n:]
	}
	return done, nil
}

// lastOfEach gives documents without _id one and keeps of equal _ids the last.
func lastOfEach(docs []bson.Raw) ([]replacement, error) {
	place := make(map[string]int, len(docs))
	last := make([]replacement, 0, len(docs))
	for i, doc := range docs {
		doc, id, err := raw.WithID(doc)
		if err == nil {
			doc, err = raw.IDFirst(doc) // as the server does; the driver takes a first key with $ for an operator
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", i, err)
		}
		key, err := idkey.Of(id)
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", i, err)
		}
		if at, again := place[string(key)]; again {
			last[at] = replacement{id, doc}
			continue
		}
		place[string(key)] = len(last)
		last = append(last, replacement{id, doc})
	}
	return last, nil
}

// bulkError says which document was the first that the server refused, and how many were.
func bulkError(err error, docs []replacement) error {
	var bulk driver.BulkWriteException
	if !errors.As(err, &bulk) || len(bulk.WriteErrors) == 0 {
		return storeError(err)
	}
	first := bulk.WriteErrors[0]
	if first.Index < 0 || first.Index >= len(docs) {
		return storeError(err)
	}
	return fmt.Errorf("%d refused, the first with _id %s: %w", len(bulk.WriteErrors), docs[first.Index].id.String(), storeError(err))
}

// batchBytes bounds what one write command carries beside BatchSize. The server
// takes 48 MB; less keeps both ends' memory calm.
const batchBytes = 16 << 20

// chunk returns how many of the items one write command should take.
func chunk[T any](items []T, most int, size func(T) int) int {
	total := 0
	for i, item := range items {
		if total += size(item); i == most || (i > 0 && total > batchBytes) {
			return i
		}
	}
	return len(items)
}

// Retain implements origin.Importer.
func (s *Store) Retain(ctx context.Context, collection string, keep func(id bson.RawValue) bool) (removed int, err error) {
	if err := origin.CheckCollection(collection); err != nil {
		return 0, err
	}
	c := s.records(collection)
	var refused []bson.RawValue
	onlyID := options.Find().SetProjection(bson.D{{Key: "_id", Value: 1}})
	for doc, err := range documents(ctx, c, bson.D{}, onlyID) {
		if err != nil {
			return 0, fmt.Errorf("delete documents of %s: %w", collection, err)
		}
		if id := doc.Lookup("_id"); !keep(id) {
			refused = append(refused, id)
		}
	}
	removed, err = deleteIDs(ctx, c, refused, s.o.BatchSize)
	if err != nil {
		return removed, fmt.Errorf("delete documents of %s: %w", collection, err)
	}
	return removed, nil
}

// deleteIDs deletes documents by _id, so many per command.
func deleteIDs(ctx context.Context, c collection, ids []bson.RawValue, most int) (deleted int, err error) {
	for len(ids) > 0 {
		n := min(most, len(ids))
		gone, err := c.deleteMany(ctx, bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids[:n]}}}})
		if err != nil {
			return deleted, storeError(err)
		}
		deleted += gone
		ids = ids[n:]
	}
	return deleted, nil
}
