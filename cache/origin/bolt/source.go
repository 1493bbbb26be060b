package bolt

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"runtime"
	"time"

	bbolt "go.etcd.io/bbolt"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/idkey"
	"vitrine/cache/origin/internal/wrap"
)

// A read transaction sees at most this many documents, or this many bytes, before
// it ends and what it found is handed on.
const (
	batchDocs  = 512
	batchBytes = 4 << 20
)

// Scan implements origin.Source. Documents come in the order of their _id; those of a
// batch that are damaged come behind it.
func (r *records) Scan(ctx context.Context, collection string) iter.Seq2[bson.Raw, error] {
	return r.scan(ctx, collection, nil, rest)
}

// Sift implements origin.Source.
func (r *records) Sift(ctx context.Context, collection string, want func(bson.Raw) bool) iter.Seq2[bson.Raw, error] {
	return r.scan(ctx, collection, func(doc bson.Raw) (bool, error) { return want(doc), nil }, rest)
}

// scan yields the documents that match accepts; nil accepts all. match sees
// documents inside a read transaction, as the file's own memory: it may neither
// keep them nor call the store. pause is called between batches with what it returned
// the time before.
func (r *records) scan(ctx context.Context, collection string, match func(bson.Raw) (bool, error), pause func(time.Time) time.Time) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		b := scanBatch{match: match}
		read := reading{file: r.storeFile}
		defer read.end()
		rested := time.Now()
		for more := true; more; {
			var err error
			if more, err = r.readBatch(ctx, collection, &b); err != nil {
				yield(nil, fmt.Errorf("scan %s: %w", collection, err))
				return
			}
			read.note(b.read)
			for _, doc := range b.docs {
				if !yield(doc, nil) {
					return
				}
			}
			for _, damaged := range b.damaged {
				if !yield(nil, damaged) {
					return
				}
			}
			if more {
				rested = pause(rested)
			}
		}
	}
}

// A scan of a whole collection is not urgent: requests go first. Yielding to other
// goroutines is not enough when all processors are in use, because the system lets a
// thread that never sleeps finish its time slice. So a scan sleeps after every stretch.
const (
	stretch = 2 * time.Millisecond
	nap     = 100 * time.Microsecond // what the system's timers make of it is up to a millisecond
)

// rest lets others run. It takes and returns when the scan last waited.
func rest(last time.Time) time.Time {
	if time.Since(last) < stretch {
		runtime.Gosched()
		return last
	}
	time.Sleep(nap)
	return time.Now()
}

// giveWay only yields to goroutines that are ready: a request waits for the result.
func giveWay(last time.Time) time.Time {
	runtime.Gosched()
	return last
}

// scanBatch is what one read transaction of a scan found and where the next goes on.
type scanBatch struct {
	match   func(bson.Raw) (bool, error)
	docs    []bson.Raw
	damaged []error
	read    int    // bytes of the documents that match saw
	after   []byte // key of the last document seen; nil at the start
}

// readBatch fills b with the next documents and reports whether there may be more.
func (r *records) readBatch(ctx context.Context, collection string, b *scanBatch) (more bool, err error) {
	b.docs, b.damaged, b.read = b.docs[:0], b.damaged[:0], 0
	in := placeOf(bucketSource, collection)
	err = r.view(ctx, func(tx *bbolt.Tx) error {
		bucket, err := r.collection(tx, collection)
		if bucket == nil {
			return err
		}
		cursor := bucket.Cursor()
		seen, size := 0, 0
		for key, sealed := seekAfter(cursor, b.after); key != nil; key, sealed = cursor.Next() {
			b.read += len(sealed)
			ok := true
			if b.match != nil {
				if doc, _, bad := in.open(key, sealed, 0); bad == nil {
					if ok, err = b.match(doc); err != nil {
						return err
					}
				}
			}
			if ok {
				own := bytes.Clone(sealed) // and checked as that: the file can change meanwhile
				if doc, _, bad := in.open(key, own, 0); bad == nil {
					b.docs = append(b.docs, doc)
					size += len(doc)
				} else {
					b.damaged = append(b.damaged, r.damagedRecord(collection, key, own))
				}
			}
			if seen++; seen >= batchDocs || size >= batchBytes {
				b.after, more = bytes.Clone(key), true
				return nil
			}
		}
		return nil
	})
	return more, err
}

// seekAfter moves to the first key behind the given one, or to the first of all.
func seekAfter(c *bbolt.Cursor, after []byte) (key, value []byte) {
	if after == nil {
		return c.First()
	}
	if key, value = c.Seek(after); key != nil && bytes.Equal(key, after) {
		return c.Next()
	}
	return key, value
}

// Lookup implements origin.Source.
func (r *records) Lookup(ctx context.Context, collection string, id bson.RawValue) (_ bson.Raw, err error) {
	defer wrap.Error(&err, "look up %s in %s", id, collection)
	key, err := idkey.Of(id)
	if err != nil {
		return nil, err
	}
	return r.get(ctx, collection, key)
}

// get returns a copy of the document with that key, or origin.ErrNotFound.
func (r *records) get(ctx context.Context, collection string, key []byte) (doc bson.Raw, err error) {
	err = r.view(ctx, func(tx *bbolt.Tx) error {
		bucket, err := r.collection(tx, collection)
		if err != nil {
			return err
		}
		var sealed []byte
		if bucket != nil {
			sealed = bucket.Get(key)
		}
		if sealed == nil {
			return origin.ErrNotFound
		}
		own := bytes.Clone(sealed)
		if doc, _, err = placeOf(bucketSource, collection).open(key, own, 0); err != nil {
			return r.damagedRecord(collection, key, own)
		}
		return nil
	})
	return doc, err
}

// collection returns a source collection, nil if it is not there.
func (r *records) collection(tx *bbolt.Tx, name string) (*bbolt.Bucket, error) {
	if err := r.damaged[string(bucketSource)+"/"+name]; err != nil {
		return nil, fmt.Errorf("%s: %w: %w", r.Name(), origin.ErrDamaged, err)
	}
	return tx.Bucket(bucketSource).Bucket([]byte(name)), nil
}

// damagedRecord is the error of a record that is not what was written.
func (r *records) damagedRecord(collection string, key, sealed []byte) error {
	id, _ := idOf(sealed, key)
	return &origin.DamagedError{Store: r.Name(), Collection: collection, ID: id}
}

// Collections implements origin.Source.
func (r *records) Collections(ctx context.Context) (names []string, err error) {
	defer wrap.Error(&err, "list collections")
	err = r.view(ctx, func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketSource).ForEachBucket(func(name []byte) error {
			names = append(names, string(name))
			return nil
		})
	})
	return names, err
}
