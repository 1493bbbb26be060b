package bolt

import (
	"context"
	"errors"
	"fmt"
	"time"

	bbolt "go.etcd.io/bbolt"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/metadoc"
)

// leaseDoc is a lease as stored. It outlives its holders, because the next one's
// token counts on from it; a free lease has no holder.
type leaseDoc struct {
	Holder  string    `bson:"holder"`
	Token   uint64    `bson:"token"`
	Expires time.Time `bson:"expires"`
}

// Acquire implements origin.Leases.
func (s *Store) Acquire(ctx context.Context, name, holder string, ttl time.Duration) (origin.Lease, error) {
	if name == "" || holder == "" {
		return origin.Lease{}, errors.New("acquire lease: name and holder must be given")
	}
	l := origin.Lease{Name: name, Holder: holder}
	err := s.update(ctx, func(tx *bbolt.Tx) error {
		d, err := readLease(tx, name)
		if err != nil {
			return err
		}
		now := s.now()
		if d.Holder != holder {
			if d.Holder != "" && now.Before(d.Expires) {
				return fmt.Errorf("%w: %s until %s", origin.ErrLeaseHeld, d.Holder, d.Expires.Format(time.RFC3339))
			}
			d.Holder, d.Token = holder, d.Token+1
		}
		d.Expires = metadoc.Time(now.Add(ttl))
		l.Token, l.Expires = d.Token, d.Expires
		return writeLease(tx, name, d)
	})
	if err != nil {
		return origin.Lease{}, fmt.Errorf("acquire lease %s: %w", name, err)
	}
	return l, nil
}

// Renew implements origin.Leases.
func (s *Store) Renew(ctx context.Context, l origin.Lease, ttl time.Duration) (origin.Lease, error) {
	err := s.update(ctx, func(tx *bbolt.Tx) error {
		if err := checkLease(tx, l); err != nil {
			return err
		}
		l.Expires = metadoc.Time(s.now().Add(ttl))
		return writeLease(tx, l.Name, leaseDoc{Holder: l.Holder, Token: l.Token, Expires: l.Expires})
	})
	if err != nil {
		return origin.Lease{}, fmt.Errorf("renew lease %s: %w", l.Name, err)
	}
	return l, nil
}

// Release implements origin.Leases.
func (s *Store) Release(ctx context.Context, l origin.Lease) error {
	err := s.update(ctx, func(tx *bbolt.Tx) error {
		err := checkLease(tx, l)
		if errors.Is(err, origin.ErrFenced) {
			return nil
		}
		if err != nil {
			return err
		}
		return writeLease(tx, l.Name, leaseDoc{Token: l.Token})
	})
	if err != nil {
		return fmt.Errorf("release lease %s: %w", l.Name, err)
	}
	return nil
}

// checkLease returns origin.ErrFenced unless l is the newest of its name. Running
// out alone does not end a lease: as long as nobody took it over, nobody is harmed.
func checkLease(tx *bbolt.Tx, l origin.Lease) error {
	d, err := readLease(tx, l.Name)
	if err != nil {
		return err
	}
	if d.Token != l.Token || d.Holder != l.Holder || l.Token == 0 {
		return origin.ErrFenced
	}
	return nil
}

// readLease returns the lease of that name, zero if there never was one.
func readLease(tx *bbolt.Tx, name string) (d leaseDoc, err error) {
	if raw := tx.Bucket(bucketLeases).Get([]byte(name)); raw != nil {
		err = bson.Unmarshal(raw, &d)
	}
	return d, err
}

// writeLease stores a lease.
func writeLease(tx *bbolt.Tx, name string, d leaseDoc) error {
	raw, err := bson.Marshal(d)
	if err != nil {
		return err
	}
	return tx.Bucket(bucketLeases).Put([]byte(name), raw)
}
