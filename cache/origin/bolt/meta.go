package bolt

import (
	"bytes"
	"context"
	"fmt"

	bbolt "go.etcd.io/bbolt"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/metadoc"
	"vitrine/cache/origin/internal/wrap"
)

// metaDoc is a view's meta as stored, with what only this store needs to know.
type metaDoc struct {
	origin.Meta `bson:",inline"`
	Attempt     uint64 `bson:"attempt"` // counts publications begun; only the latest may write
	Settled     uint64 `bson:"settled"` // versions superseded up to this generation are pruned
	Swept       uint64 `bson:"swept"`   // tombstones up to this generation are pruned
}

// Meta implements origin.Views.
func (s *Store) Meta(ctx context.Context, view string) (origin.Meta, error) {
	d, err := s.meta(ctx, view)
	wrap.Error(&err, "meta of view %s", view)
	return d.Meta, err
}

// meta reads a view's meta in a transaction of its own.
func (s *Store) meta(ctx context.Context, view string) (d metaDoc, err error) {
	err = s.view(ctx, func(tx *bbolt.Tx) error {
		d, err = s.readMeta(tx, view)
		return err
	})
	return d, err
}

// Metas implements origin.Views.
func (s *Store) Metas(ctx context.Context) (metas []origin.Meta, err error) {
	defer wrap.Error(&err, "metas of views")
	err = s.view(ctx, func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketViews).ForEachBucket(func(name []byte) error {
			d, err := s.readMeta(tx, string(name))
			if err != nil {
				d.Health = origin.Health{Status: origin.HealthError, Error: err.Error()}
			}
			metas = append(metas, d.Meta)
			return nil
		})
	})
	return metas, err
}

// SetHealth implements origin.Views.
func (s *Store) SetHealth(ctx context.Context, view string, lease origin.Lease, h origin.Health) (err error) {
	defer wrap.Error(&err, "set health of view %s", view)
	if err := origin.CheckView(view); err != nil {
		return err
	}
	return s.updateMeta(ctx, view, func(tx *bbolt.Tx, d *metaDoc) error {
		d.Health = metadoc.Storable(h)
		if h.Status == origin.HealthOK {
			d.Checked = metadoc.Time(s.now())
		}
		return checkLease(tx, lease)
	})
}

// updateMeta changes a view's meta in one transaction, creating the view if need be.
func (s *Store) updateMeta(ctx context.Context, view string, change func(tx *bbolt.Tx, d *metaDoc) error) error {
	return s.updateView(ctx, view, func(tx *bbolt.Tx, b viewBuckets) error {
		d, err := s.readMeta(tx, view)
		if err != nil {
			return err
		}
		if err := change(tx, &d); err != nil {
			return err
		}
		raw, err := bson.Marshal(d)
		if err != nil {
			return err
		}
		return b.self.Put(keyMeta, b.place.seal(keyMeta, raw))
	})
}

// readMeta returns a view's meta; a view that is not there has only a name.
func (s *Store) readMeta(tx *bbolt.Tx, view string) (d metaDoc, err error) {
	d.View = view
	if err := s.damaged[viewPath(view)]; err != nil {
		return d, fmt.Errorf("%s: %w: %w", s.Name(), origin.ErrDamaged, err)
	}
	b, ok := openView(tx, view)
	if !ok {
		return d, nil
	}
	if raw := b.self.Get(keyMeta); raw != nil {
		if raw, _, err = b.place.open(keyMeta, bytes.Clone(raw), 0); err == nil {
			err = bson.Unmarshal(raw, &d)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w: %w", s.Name(), origin.ErrDamaged, err)
		}
	}
	return d, err
}
