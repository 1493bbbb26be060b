package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	bbolt "go.etcd.io/bbolt"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/leasedoc"
)

// Acquire implements origin.Leases.
func (s *Store) Acquire(ctx context.Context, name, holder string, ttl time.Duration) (l origin.Lease, err error) {
	if name == "" || holder == "" {
		return origin.Lease{}, errors.New("acquire lease: name and holder must be given")
	}
	err = s.update(ctx, func(tx *bbolt.Tx) error {
		d, err := readLease(tx, name)
		if err == nil {
			err = s.watch.Check(d, holder, ttl)
		}
		if err != nil {
			return err
		}
		d = d.Taken(holder, s.now(), ttl)
		l = d.Lease()
		return writeLease(tx, d)
	})
	if err != nil {
		return origin.Lease{}, fmt.Errorf("acquire lease %s: %w", name, err)
	}
	return l, nil
}

// Renew implements origin.Leases.
func (s *Store) Renew(ctx context.Context, l origin.Lease, ttl time.Duration) (origin.Lease, error) {
	err := s.update(ctx, func(tx *bbolt.Tx) error {
		d, err := heldLease(tx, l)
		if err != nil {
			return err
		}
		d = d.Taken(l.Holder, s.now(), ttl)
		l = d.Lease()
		return writeLease(tx, d)
	})
	if err != nil {
		return origin.Lease{}, fmt.Errorf("renew lease %s: %w", l.Name, err)
	}
	return l, nil
}

// Release implements origin.Leases.
func (s *Store) Release(ctx context.Context, l origin.Lease) error {
	err := s.update(ctx, func(tx *bbolt.Tx) error {
		d, err := heldLease(tx, l)
		if errors.Is(err, origin.ErrFenced) {
			return nil
		}
		if err != nil {
			return err
		}
		d.Holder, d.Expires = "", time.Time{}
		return writeLease(tx, d)
	})
	if err != nil {
		return fmt.Errorf("release lease %s: %w", l.Name, err)
	}
	return nil
}

// Holder implements origin.Leases.
func (s *Store) Holder(ctx context.Context, name string) (holder string, err error) {
	err = s.view(ctx, func(tx *bbolt.Tx) error {
		d, err := readLease(tx, name)
		holder = d.Holder
		return err
	})
	if err != nil {
		return "", fmt.Errorf("read lease %s: %w", name, err)
	}
	return holder, nil
}

// checkLease returns origin.ErrFenced unless l is the newest of its name. An expired
// lease stays valid until another holder takes it: until then there is no conflict.
func checkLease(tx *bbolt.Tx, l origin.Lease) error {
	_, err := heldLease(tx, l)
	return err
}

// heldLease is checkLease that returns the lease as stored.
func heldLease(tx *bbolt.Tx, l origin.Lease) (leasedoc.Doc, error) {
	d, err := readLease(tx, l.Name)
	if err == nil && (d.Token != l.Token || d.Holder != l.Holder || l.Token == 0) {
		err = origin.ErrFenced
	}
	return d, err
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

// writeLease stores a lease.
func writeLease(tx *bbolt.Tx, d leasedoc.Doc) error {
	raw, err := bson.Marshal(d)
	if err != nil {
		return err
	}
	key := []byte(d.Name)
	return tx.Bucket(bucketLeases).Put(key, leases.seal(key, raw))
}
