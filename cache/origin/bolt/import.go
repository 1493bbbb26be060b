package bolt

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/batch"
	"vitrine/cache/origin/internal/wrap"
	"vitrine/rules/raw"
)

// Upsert implements origin.Importer. A batch is one transaction, so that a crash leaves whole batches; after an
// error the counts are those of the batches before.
func (s source) Upsert(ctx context.Context, collection string,
	docs []bson.Raw) (done origin.UpsertCounts, err error) {
	if err := origin.CheckCollection(collection); err != nil {
		return done, err
	}
	defer wrap.Error(&err, "store documents in %s", collection)
	for docs := range batch.Of(docs, writeDocs, writeBytes, func(d bson.Raw) int { return len(d) }) {
		var part origin.UpsertCounts
		err := s.file.update(ctx, func(tx *writeTx) (err error) {
			part, err = upsert(tx, collection, docs)
			return err
		})
		if err != nil {
			return done, err
		}
		done.Inserted += part.Inserted
		done.Replaced += part.Replaced
	}
	return done, nil
}

// upsert stores one batch within a transaction. Documents of the same batch with the same _id replace each other,
// in order.
func upsert(tx *writeTx, collection string, docs []bson.Raw) (done origin.UpsertCounts, err error) {
	bucket, err := tx.Tx.Bucket(bucketSource).CreateBucketIfNotExists([]byte(collection))
	if err != nil {
		return done, err
	}
	if _, err := bucket.NextSequence(); err != nil { // see Version
		return done, err
	}
	in := placeOf(bucketSource, collection)
	for i, doc := range docs {
		id, err := raw.ValidID(doc)
		if err != nil {
			return done, fmt.Errorf("document %d: %w", i, err)
		}
		key, err := storableKey(id)
		if err != nil {
			return done, err
		}
		if bucket.Get(key) == nil {
			done.Inserted++
		} else {
			done.Replaced++
		}
		if err := tx.put(in, key, doc); err != nil {
			return done, err
		}
	}
	return done, nil
}

// Retain implements origin.Importer. It first reads all ids, because keep may call the store and must not run
// inside a transaction, and then deletes in batches. A document that is stored in between with a new _id stays.
// Every batch increments the collection's sequence, so that Version changes.
func (s source) Retain(ctx context.Context, collection string,
	keep func(id bson.RawValue) bool) (removed int, err error) {
	if err := origin.CheckCollection(collection); err != nil {
		return 0, err
	}
	defer wrap.Error(&err, "delete documents of %s", collection)
	type stored struct {
		key []byte
		// zero if the record is damaged; the import has just replaced the damaged ones that the dump holds
		id bson.RawValue
	}
	entries := s.file.entries(collection, nil)
	all := inBatches(ctx, s.file, entries, runtime.Gosched, func(e entry) (stored, bool, error) {
		return stored{bytes.Clone(e.key), idOf(e.key, e.value)}, true, nil
	})
	var refused [][]byte
	for doc, err := range all {
		if err != nil {
			return 0, err
		}
		if doc.id.IsZero() || !keep(doc.id) {
			refused = append(refused, doc.key)
		}
	}
	for part := range slices.Chunk(refused, writeDocs) {
		err := s.file.update(ctx, func(tx *writeTx) error {
			in := placeOf(bucketSource, collection)
			_, err := in.bucket(tx.Tx).NextSequence()
			for _, key := range part {
				err = cmp.Or(err, tx.delete(in, key))
			}
			return err
		})
		if err != nil {
			return removed, err
		}
		removed += len(part)
	}
	return removed, nil
}
