package bolt

import (
	"bytes"
	"context"
	"errors"
	"time"

	bbolt "go.etcd.io/bbolt"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/leasedoc"
	"vitrine/cache/origin/internal/wrap"
)

// Acquire implements origin.Leases.
func (s *Store) Acquire(ctx context.Context, name, holder string, ttl time.Duration) (l origin.Lease, err error) {
	defer wrap.Error(&err, "acquire lease %s", name)
	if name == "" || holder == "" {
		return origin.Lease{}, errors.New("name and holder must be given")
	}
	err = s.updateLease(ctx, name, func(d leasedoc.Doc) (leasedoc.Doc, error) {
		err := s.watch.Check(d, holder, ttl)
		d = d.Taken(holder, s.now(), ttl)
		l = d.Lease
		return d, err
	})
	return l, err
}

// Renew implements origin.Leases.
func (s *Store) Renew(ctx context.Context, l origin.Lease, ttl time.Duration) (_ origin.Lease, err error) {
	defer wrap.Error(&err, "renew lease %s", l.Name)
	err = s.updateLease(ctx, l.Name, func(d leasedoc.Doc) (leasedoc.Doc, error) {
		err := fenced(d, l)
		d = d.Taken(l.Holder, s.now(), ttl)
		l = d.Lease
		return d, err
	})
	return l, err
}

// Release implements origin.Leases.
func (s *Store) Release(ctx context.Context, l origin.Lease) (err error) {
	defer wrap.Error(&err, "release lease %s", l.Name)
	err = s.updateLease(ctx, l.Name, func(d leasedoc.Doc) (leasedoc.Doc, error) {
		err := fenced(d, l)
		d.Holder, d.Expires = "", time.Time{}
		return d, err
	})
	if errors.Is(err, origin.ErrFenced) {
		return nil
	}
	return err
}

// Holder implements origin.Leases.
func (s *Store) Holder(ctx context.Context, name string) (holder string, err error) {
	defer wrap.Error(&err, "read lease %s", name)
	err = s.view(ctx, func(tx *bbolt.Tx) error {
		d, err := readLease(tx, name)
		holder = d.Holder
		return err
	})
	return holder, err
}

// checkLease returns origin.ErrFenced unless l is the newest of its name. An expired
// lease stays valid until another holder takes it: until then there is no conflict.
func checkLease(tx *bbolt.Tx, l origin.Lease) error {
	d, err := readLease(tx, l.Name)
	if err != nil {
		return err
	}
	return fenced(d, l)
}

// fenced returns origin.ErrFenced unless l is the lease that d has.
func fenced(d leasedoc.Doc, l origin.Lease) error {
	if d.Token != l.Token || d.Holder != l.Holder || l.Token == 0 {
		return origin.ErrFenced
	}
	return nil
}

// updateLease changes a lease in one transaction, unless change returns an error.
func (s *Store) updateLease(ctx context.Context, name string, change func(leasedoc.Doc) (leasedoc.Doc, error)) error {
	return s.update(ctx, func(tx *bbolt.Tx) error {
		d, err := readLease(tx, name)
		if err != nil {
			return err
		}
		if d, err = change(d); err != nil {
			return err
		}
		raw, err := bson.Marshal(d)
		if err != nil {
			return err
		}
		key := []byte(name)
		return tx.Bucket(bucketLeases).Put(key, leases.seal(key, raw))
	})
}

// leases is the place of leases.
var leases = placeOf(bucketLeases, "")

// readLease returns the lease of that name, without a holder if there never was one or it
// is damaged: one process has the file open, so that the holder before is none any more.
func readLease(tx *bbolt.Tx, name string) (d leasedoc.Doc, err error) {
	key := []byte(name)
	if raw, _, bad := leases.open(key, bytes.Clone(tx.Bucket(bucketLeases).Get(key)), 0); bad == nil {
		err = bson.Unmarshal(raw, &d)
	}
	d.Name = name // not in what earlier versions wrote
	return d, err
}
