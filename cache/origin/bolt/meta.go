package bolt

import (
	"bytes"
	"context"
	"fmt"

	bbolt "go.etcd.io/bbolt"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/registry"
	"vitrine/cache/origin/internal/wrap"
)

// table is a registry.Table in the file.
// Leases and metas have one each. One write transaction reads, changes and stores a document, so that Update never
// has to repeat the change.
type table[D any] struct {
	file *storeFile
	// read returns a copy of the document of a name, or the zero document.
	read func(tx *bbolt.Tx, name string) (D, error)
	// place returns the place and the key of a name's document, and creates the bucket.
	place func(tx *bbolt.Tx, name string) (in place, key []byte, err error)
}

// Read implements registry.Table.
func (t table[D]) Read(ctx context.Context, name string) (d D, err error) {
	err = t.file.view(ctx, func(tx *bbolt.Tx) error {
		d, err = t.read(tx, name)
		return err
	})
	return d, err
}

// Update implements registry.Table.
func (t table[D]) Update(ctx context.Context, name string, change func(*D) error) (d D, err error) {
	err = t.file.update(ctx, func(tx *writeTx) error {
		d, err = t.read(tx.Tx, name)
		if err == nil {
			err = change(&d)
		}
		if err != nil {
			return err
		}
		doc, err := bson.Marshal(d)
		if err != nil {
			return err
		}
		in, key, err := t.place(tx.Tx, name)
		if err != nil {
			return err
		}
		return tx.put(in, key, doc)
	})
	return d, err
}

// leases is the place of all leases, which lie in one bucket without another one below.
var leases = placeOf(bucketLeases, "")

// readLease returns a lease, without a holder if it does not exist or is damaged. A damaged lease is free: its
// holder cannot renew it, and waiting for its end would need a term that is lost.
func readLease(tx *bbolt.Tx, name string) (d registry.Lease, err error) {
	key := []byte(name)
	if doc, bad := leases.open(key, bytes.Clone(tx.Bucket(bucketLeases).Get(key))); bad == nil {
		err = bson.Unmarshal(doc, &d)
	}
	return d, err
}

// placeLease is table.place for leases; their bucket always exists.
func placeLease(_ *bbolt.Tx, name string) (place, []byte, error) { return leases, []byte(name), nil }

// readMeta returns a view's meta. The meta of an unknown view has only a name. The error wraps origin.ErrDamaged if
// examine has found flaws in the pages of the view, or if the checksum of the meta does not match. Open sets such
// views aside, so later callers meet the error only in a read-only store, or if the damage is new.
func (f *storeFile) readMeta(tx *bbolt.Tx, view string) (d registry.View, err error) {
	d.View = view
	if err := f.damaged[pathOf(bucketViews, view)]; err != nil {
		return d, fmt.Errorf("%s: %w: %w", f.Name(), origin.ErrDamaged, err)
	}
	b := openView(tx, view)
	if b.self == nil {
		return d, nil
	}
	if doc := b.self.Get(keyMeta); doc != nil {
		if doc, err = b.place.open(keyMeta, bytes.Clone(doc)); err == nil {
			err = bson.Unmarshal(doc, &d)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w: %w", f.Name(), origin.ErrDamaged, err)
		}
	}
	return d, err
}

// placeMeta is table.place for metas; it creates all buckets of the view.
func placeMeta(tx *bbolt.Tx, view string) (place, []byte, error) {
	self, err := tx.Bucket(bucketViews).CreateBucketIfNotExists([]byte(view))
	for _, name := range [][]byte{bucketRows, bucketIndex} {
		if err == nil {
			_, err = self.CreateBucketIfNotExists(name)
		}
	}
	return placeOf(bucketViews, view), keyMeta, err
}

// newestToken returns the greatest lease token in metas and marks. It skips damaged metas, which Open sets aside. A
// new lease gets a greater one, see registry.NewLeases. Damage to a meta can lose a token; that does not matter,
// because the view is then published anew under the new lease.
func (f *storeFile) newestToken(ctx context.Context) (newest uint64, err error) {
	defer wrap.Error(&err, "tokens of views")
	err = f.view(ctx, func(tx *bbolt.Tx) error {
		if b, err := (responses{f}).buckets(tx); err == nil && b.answers != nil {
			newest = b.state().Token
		}
		return tx.Bucket(bucketViews).ForEachBucket(func(name []byte) error {
			if d, err := f.readMeta(tx, string(name)); err == nil {
				newest = max(newest, d.Token)
			}
			return nil
		})
	})
	return newest, err
}

// Metas implements origin.Views. bbolt yields buckets in the order of their names.
func (v views) Metas(ctx context.Context) (metas []origin.Meta, err error) {
	defer wrap.Error(&err, "metas of views")
	err = v.file.view(ctx, func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketViews).ForEachBucket(func(name []byte) error {
			d, err := v.file.readMeta(tx, string(name))
			if err != nil {
				d.Meta = origin.Unreadable(string(name), err)
			}
			metas = append(metas, d.Meta)
			return nil
		})
	})
	return metas, err
}
