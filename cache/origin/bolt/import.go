package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	bbolt "go.etcd.io/bbolt"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/batch"
	"vitrine/cache/origin/internal/idkey"
	"vitrine/cache/origin/internal/wrap"
	"vitrine/rules/raw"
)

// A write transaction holds at most this many documents, or this many bytes.
const (
	writeDocs  = 2000
	writeBytes = 8 << 20
)

// Upsert implements origin.Importer.
func (r *records) Upsert(ctx context.Context, collection string, docs []bson.Raw) (done origin.Upserted, err error) {
	if err := origin.CheckCollection(collection); err != nil {
		return done, err
	}
	defer wrap.Error(&err, "store documents in %s", collection)
	for docs := range batch.Of(docs, writeDocs, writeBytes, func(d bson.Raw) int { return len(d) }) {
		var part origin.Upserted
		err := r.update(ctx, func(tx *bbolt.Tx) (err error) {
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

// upsert stores docs within a transaction.
func upsert(tx *bbolt.Tx, collection string, docs []bson.Raw) (done origin.Upserted, err error) {
	bucket, err := tx.Bucket(bucketSource).CreateBucketIfNotExists([]byte(collection))
	if err != nil {
		return done, err
	}
	in := placeOf(bucketSource, collection)
	for i, doc := range docs {
		doc, id, err := raw.WithID(doc)
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
		if err := bucket.Put(key, in.seal(key, doc)); err != nil {
			return done, err
		}
	}
	return done, nil
}

// storableKey is idkey.Of with a clear error for an _id longer than bbolt's keys
// can be, a generation included.
func storableKey(id bson.RawValue) ([]byte, error) {
	key, err := idkey.Of(id)
	if err == nil && len(key)+generationSize > bbolt.MaxKeySize {
		err = errors.New("_id of more than 32 KB")
	}
	return key, err
}

// Retain implements origin.Importer.
func (r *records) Retain(ctx context.Context, collection string, keep func(id bson.RawValue) bool) (removed int, err error) {
	if err := origin.CheckCollection(collection); err != nil {
		return 0, err
	}
	defer wrap.Error(&err, "delete documents of %s", collection)
	var after []byte
	for more := true; more; {
		var keys [][]byte
		var ids []bson.RawValue
		if keys, ids, err = r.nextIDs(ctx, collection, after); err != nil {
			return removed, err
		}
		if more = len(keys) == writeDocs; more {
			after = keys[len(keys)-1]
		}
		refused := keys[:0]
		for i, key := range keys { // keep is foreign code, and runs outside of transactions
			if ids[i].IsZero() || !keep(ids[i]) {
				refused = append(refused, key)
			}
		}
		if len(refused) == 0 {
			continue
		}
		err := r.update(ctx, func(tx *bbolt.Tx) error {
			bucket := tx.Bucket(bucketSource).Bucket([]byte(collection))
			for _, key := range refused {
				if err := bucket.Delete(key); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return removed, err
		}
		removed += len(refused)
	}
	return removed, nil
}

// nextIDs reads the next keys and ids of a collection, at most writeDocs. The id of a
// damaged record is zero: what the dump has was stored anew before.
func (r *records) nextIDs(ctx context.Context, collection string, after []byte) (keys [][]byte, ids []bson.RawValue, err error) {
	err = r.view(ctx, func(tx *bbolt.Tx) error {
		bucket, err := r.collection(tx, collection)
		if bucket == nil {
			return err
		}
		cursor := bucket.Cursor()
		for key, doc := seekAfter(cursor, after); key != nil && len(keys) < writeDocs; key, doc = cursor.Next() {
			id, _ := idOf(doc, key)
			ids, keys = append(ids, id), append(keys, bytes.Clone(key))
		}
		return nil
	})
	return keys, ids, err
}
