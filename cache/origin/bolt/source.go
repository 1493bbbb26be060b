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
	return r.scan(ctx, collection, scanBatch{}, rest)
}

// Sift implements origin.Source.
func (r *records) Sift(ctx context.Context, collection string, want func(bson.Raw) bool) iter.Seq2[bson.Raw, error] {
	return r.scan(ctx, collection, scanBatch{match: func(doc bson.Raw) (bool, error) { return want(doc), nil }}, rest)
}

// scan yields documents batch by batch. pause is called behind each batch with what it
// returned the time before.
func (r *records) scan(ctx context.Context, collection string, b scanBatch, pause func(time.Time) time.Time) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		b, rested := b, time.Now()
		err := r.inBatches(ctx, func(tx *bbolt.Tx) (int, bool, error) {
			return r.readBatch(tx, collection, &b)
		}, func() (bool, error) {
			for _, doc := range b.docs {
				if !yield(doc, nil) {
					return false, nil
				}
			}
			for _, damaged := range b.damaged {
				if !yield(nil, damaged) {
					return false, nil
				}
			}
			rested = pause(rested)
			return true, nil
		})
		if err != nil {
			yield(nil, fmt.Errorf("scan %s: %w", collection, err))
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
	// match accepts documents; nil accepts all. It sees them inside a read transaction, as
	// the file's own memory: it may neither keep them nor call the store.
	match   func(bson.Raw) (bool, error)
	only    []byte // the key of the only document to read; nil: all
	docs    []bson.Raw
	damaged []error
	after   []byte // key of the last document seen; nil at the start
}

// readBatch fills b with the next documents. It returns the bytes that it read and whether
// there may be more.
func (r *records) readBatch(tx *bbolt.Tx, collection string, b *scanBatch) (read int, more bool, err error) {
	b.docs, b.damaged = b.docs[:0], b.damaged[:0]
	bucket, err := r.collection(tx, collection)
	if bucket == nil {
		return 0, false, err
	}
	in, cursor := placeOf(bucketSource, collection), bucket.Cursor()
	key, sealed := seekAfter(cursor, b.after)
	if b.only != nil {
		key, sealed = cursor.Seek(b.only)
	}
	for seen, size := 0, 0; key != nil && (b.only == nil || bytes.Equal(key, b.only)); key, sealed = cursor.Next() {
		read += len(sealed)
		ok := true
		if b.match != nil {
			if doc, _, bad := in.open(key, sealed, 0); bad == nil {
				if ok, err = b.match(doc); err != nil {
					return read, false, err
				}
			}
		}
		if ok {
			own := bytes.Clone(sealed) // and checked as that: the file can change meanwhile
			if doc, _, bad := in.open(key, own, 0); bad == nil {
				b.docs = append(b.docs, doc)
				size += len(doc)
			} else {
				id, _ := idOf(own, key)
				b.damaged = append(b.damaged, &origin.DamagedError{Store: r.Name(), Collection: collection, ID: id})
			}
		}
		if seen++; seen >= batchDocs || size >= batchBytes {
			b.after = bytes.Clone(key)
			return read, true, nil
		}
	}
	return read, false, nil
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

// collection returns a source collection, nil if it is not there.
func (r *records) collection(tx *bbolt.Tx, name string) (*bbolt.Bucket, error) {
	if err := r.damaged[string(bucketSource)+"/"+name]; err != nil {
		return nil, fmt.Errorf("%s: %w: %w", r.Name(), origin.ErrDamaged, err)
	}
	return tx.Bucket(bucketSource).Bucket([]byte(name)), nil
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
