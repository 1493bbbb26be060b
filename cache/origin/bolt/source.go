package bolt

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"

	bbolt "go.etcd.io/bbolt"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/wrap"
)

// The most entries, and bytes of them, that one read transaction reads before inBatches yields the items. The
// numbers are a compromise: a longer transaction keeps more pages from being reused by writers, a shorter one costs
// more checks of the file (see intact).
const (
	batchDocs  = 512
	batchBytes = 4 << 20
)

// entry is a key and its value. at is the key to continue from. They are the file's own memory, valid within the
// transaction.
type entry struct{ at, key, value []byte }

// entriesFunc yields entries within a transaction, beginning at the key from; nil is the first key.
type entriesFunc func(tx *bbolt.Tx, from []byte, yield func(entry) bool) error

// inBatches yields the items that take makes from entries, unless it returns false. take runs inside a read
// transaction, on the file's own memory. After each batch inBatches calls pause. pause lets other goroutines run:
// to the scheduler, reading a mapped file looks like computing. The items between two transactions are copies, so
// the loop body may write to the store. No key comes twice. Whether the items have what another transaction changes
// meanwhile is open; only versions with a pin stay.
func inBatches[T any](ctx context.Context, f *storeFile, entries entriesFunc, pause func(),
	take func(entry) (item T, ok bool, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var from []byte
		var found []T
		read := 0
		defer func() {
			if read >= releaseEvery/16 {
				f.releasePages()
			}
		}()
		for more := true; more; pause() {
			found, more = found[:0], false
			err := f.view(ctx, func(tx *bbolt.Tx) (err error) {
				seen, size, began := 0, 0, from
				failed := entries(tx, from, func(e entry) bool {
					var item T
					var ok bool
					if item, ok, err = take(e); ok {
						found = append(found, item)
					}
					if seen, size = seen+1, size+len(e.value); seen >= batchDocs || size >= batchBytes {
						from, more = append(bytes.Clone(e.at), 0), true // the smallest key after this one
					}
					return err == nil && !more
				})
				if read += size; more {
					err = cmp.Or(err, f.inOrder(began, from))
				}
				return cmp.Or(failed, err)
			})
			if err != nil {
				yield(*new(T), err)
				return
			}
			if read >= releaseEvery {
				f.releasePages()
				read = 0
			}
			for _, item := range found {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}

// inOrder returns an error unless a batch that began at a key ends before a greater one. Keys that are damaged while
// the store is open can be out of order, and batches would then read the same entries again and again.
func (f *storeFile) inOrder(began, next []byte) error {
	if bytes.Compare(next, began) <= 0 {
		return f.lost(errors.New("its keys are out of order"))
	}
	return nil
}

// source implements origin.Source and origin.Importer.
type source struct{ file *storeFile }

// Scan implements origin.Source. Documents come in the order of their _id.
func (s source) Scan(ctx context.Context, collection string) iter.Seq2[bson.Raw, error] {
	return s.file.scan(ctx, collection, nil, nil, fair.Rest())
}

// Sift implements origin.Source.
func (s source) Sift(ctx context.Context, collection string, want func(bson.Raw) bool) iter.Seq2[bson.Raw, error] {
	return s.file.scan(ctx, collection, nil, func(doc bson.Raw) (bool, error) { return want(doc), nil }, fair.Rest())
}

// record is a document, or the error that replaces it.
type record struct {
	doc     bson.Raw
	damaged error
}

// scan yields the documents that match accepts; a nil match accepts all. only, if not nil, is the key of the one
// document to read. match sees the file's own memory: it may neither keep documents nor call the store.
func (f *storeFile) scan(ctx context.Context, collection string, only []byte, match func(bson.Raw) (bool, error),
	pause func()) iter.Seq2[bson.Raw, error] {
	in := placeOf(bucketSource, collection)
	found := inBatches(ctx, f, f.entries(collection, only), pause,
		func(e entry) (rec record, ok bool, err error) {
			if match != nil {
				if doc, bad := in.open(e.key, e.value); bad == nil {
					if ok, err := match(doc); err != nil || !ok {
						return rec, false, err
					}
				}
			}
			own := bytes.Clone(e.value) // copy it before the check, because the file can change meanwhile
			if rec.doc, err = in.open(e.key, own); err != nil {
				rec.damaged = &origin.DamagedError{Store: f.Name(), Collection: collection, ID: idOf(e.key, own)}
			}
			return rec, true, nil
		})
	return func(yield func(bson.Raw, error) bool) {
		for rec, err := range wrap.Each(found, "scan %s", collection) {
			if !yield(rec.doc, cmp.Or(err, rec.damaged)) {
				return
			}
		}
	}
}

// entries yields the entries of a collection, or only the one with a given key.
func (f *storeFile) entries(collection string, only []byte) entriesFunc {
	return func(tx *bbolt.Tx, from []byte, yield func(entry) bool) error {
		if err := f.damaged[pathOf(bucketSource, collection)]; err != nil {
			return fmt.Errorf("%s: %w: %w", f.Name(), origin.ErrDamaged, err)
		}
		bucket := tx.Bucket(bucketSource).Bucket([]byte(collection))
		if bucket == nil {
			return nil
		}
		if only != nil {
			if value := bucket.Get(only); value != nil && bytes.Compare(from, only) <= 0 {
				yield(entry{only, only, value})
			}
			return nil
		}
		cursor := bucket.Cursor()
		for key, value := cursor.Seek(from); key != nil && yield(entry{key, key, value}); {
			key, value = cursor.Next()
		}
		return nil
	}
}

// Version implements origin.Versioner: each transaction that writes to a collection increments its sequence.
func (s source) Version(ctx context.Context, collection, _ string) (version origin.Version, err error) {
	defer wrap.Error(&err, "version of %s", collection)
	version.Exact = true
	err = s.file.view(ctx, func(tx *bbolt.Tx) error {
		if bucket := tx.Bucket(bucketSource).Bucket([]byte(collection)); bucket != nil {
			version.Text = strconv.FormatUint(bucket.Sequence(), 10)
		}
		return nil
	})
	return version, err
}

// Watch implements origin.Watcher: this store reports no changes. Only this process writes to it, and Version is
// exact and cheap.
func (s source) Watch(context.Context, []string, func(), func(collection string)) error {
	return origin.ErrUnsupported
}

// Collections implements origin.Source. It lists a damaged collection, too: reading that reports the damage.
func (s source) Collections(ctx context.Context) (names []string, err error) {
	defer wrap.Error(&err, "list collections")
	err = s.file.view(ctx, func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketSource).ForEachBucket(func(name []byte) error {
			names = append(names, string(name))
			return nil
		})
	})
	return names, err
}
