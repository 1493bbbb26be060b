package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	bbolt "go.etcd.io/bbolt"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/idkey"
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
	for len(docs) > 0 {
		n := chunk(docs, func(d bson.Raw) int { return len(d) })
		var part origin.Upserted
		err := r.update(ctx, func(tx *bbolt.Tx) (err error) {
			part, err = upsert(tx, collection, docs[:n])
			return err
		})
		if err != nil {
			return done, fmt.Errorf("store documents in %s: %w", collection, err)
		}
		done.Inserted += part.Inserted
		done.Replaced += part.Replaced
		docs = docs[n:]
	}
	return done, nil
}

// chunk returns how many of the items one write transaction should take.
func chunk[T any](items []T, size func(T) int) int {
	total := 0
	for i, item := range items {
		if total += size(item); i == writeDocs || (i > 0 && total > writeBytes) {
			return i
		}
	}
	return len(items)
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
	var after []byte
	for more := true; more; {
		var refused [][]byte
		if refused, after, more, err = r.refused(ctx, collection, after, keep); err == nil && len(refused) > 0 {
			err = r.drop(ctx, collection, refused)
		}
		if err != nil {
			return removed, fmt.Errorf("delete documents of %s: %w", collection, err)
		}
		removed += len(refused)
	}
	return removed, nil
}

// refused reads the next ids and returns the keys of those that keep refuses.
// keep is foreign code and runs after the read transaction.
func (r *records) refused(ctx context.Context, collection string, after []byte, keep func(bson.RawValue) bool) (keys [][]byte, last []byte, more bool, err error) {
	var ids []bson.RawValue
	err = r.view(ctx, func(tx *bbolt.Tx) error {
		bucket, err := r.collection(tx, collection)
		if bucket == nil {
			return err
		}
		cursor := bucket.Cursor()
		for key, doc := seekAfter(cursor, after); key != nil; key, doc = cursor.Next() {
			id, _ := idOf(doc, key) // zero if it is damaged: what the dump has was stored anew before
			ids, keys = append(ids, id), append(keys, bytes.Clone(key))
			if len(keys) == writeDocs {
				last, more = keys[len(keys)-1], true
				return nil
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, false, err
	}
	out := keys[:0:0]
	for i, key := range keys {
		if ids[i].IsZero() || !keep(ids[i]) {
			out = append(out, key)
		}
	}
	return out, last, more, nil
}

// drop deletes documents by key.
func (r *records) drop(ctx context.Context, collection string, keys [][]byte) error {
	return r.update(ctx, func(tx *bbolt.Tx) error {
		bucket := tx.Bucket(bucketSource).Bucket([]byte(collection))
		for _, key := range keys {
			if err := bucket.Delete(key); err != nil {
				return err
			}
		}
		return nil
	})
}
