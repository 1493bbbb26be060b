package mongo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/metadoc"
)

// leaseDoc is a lease as stored. It outlives its holders, because the next one's
// token counts on from it; a free lease has no holder.
type leaseDoc struct {
	Name    string    `bson:"_id"`
	Holder  string    `bson:"holder"`
	Token   uint64    `bson:"token"`
	Expires time.Time `bson:"expires"`
}

// lease returns the document as the rest of the program knows it.
func (d leaseDoc) lease() origin.Lease {
	return origin.Lease{Name: d.Name, Holder: d.Holder, Token: d.Token, Expires: d.Expires}
}

// leases is the collection of leases.
func (s *Store) leases() collection {
	return collection{s.views.Collection(origin.SidePrefix + "lease")}
}

// Acquire implements origin.Leases. Expiry is judged by this process's clock, so
// that the clocks of all instances should agree to within a fraction of a lease.
func (s *Store) Acquire(ctx context.Context, name, holder string, ttl time.Duration) (origin.Lease, error) {
	if name == "" || holder == "" {
		return origin.Lease{}, errors.New("acquire lease: name and holder must be given")
	}
	d, err := s.acquire(ctx, name, holder, ttl)
	if driver.IsDuplicateKeyError(err) {
		// The lease is there but neither ours nor free; or it was created between the
		// server's look and its insert, and then a second try finds it.
		d, err = s.acquire(ctx, name, holder, ttl)
	}
	if err = storeError(err); driver.IsDuplicateKeyError(err) {
		err = origin.ErrLeaseHeld
	}
	if err != nil {
		return origin.Lease{}, fmt.Errorf("acquire lease %s: %w", name, err)
	}
	return d.lease(), nil
}

// acquire extends the holder's own lease, or else takes a free or expired one.
func (s *Store) acquire(ctx context.Context, name, holder string, ttl time.Duration) (leaseDoc, error) {
	own := bson.D{{Key: "_id", Value: name}, {Key: "holder", Value: holder}}
	d, err := s.extend(ctx, own, ttl)
	if !errors.Is(err, driver.ErrNoDocuments) {
		return d, err
	}
	now := metadoc.Time(s.o.Now())
	free := bson.D{
		{Key: "_id", Value: name},
		{Key: "holder", Value: bson.D{{Key: "$ne", Value: holder}}},
		{Key: "expires", Value: bson.D{{Key: "$lte", Value: now}}},
	}
	take := bson.D{
		{Key: "$set", Value: bson.D{{Key: "holder", Value: holder}, {Key: "expires", Value: now.Add(ttl)}}},
		{Key: "$inc", Value: bson.D{{Key: "token", Value: int64(1)}}},
	}
	err = s.leases().findAndUpdate(ctx, free, take, true, &d)
	return d, err
}

// extend sets a new end to the lease that filter finds.
func (s *Store) extend(ctx context.Context, filter bson.D, ttl time.Duration) (d leaseDoc, err error) {
	set := bson.D{{Key: "$set", Value: bson.D{{Key: "expires", Value: metadoc.Time(s.o.Now().Add(ttl))}}}}
	err = s.leases().findAndUpdate(ctx, filter, set, false, &d)
	return d, err
}

// held is the filter that finds a lease as long as it is the newest of its name.
func held(l origin.Lease) bson.D {
	return bson.D{{Key: "_id", Value: l.Name}, {Key: "holder", Value: l.Holder}, {Key: "token", Value: l.Token}}
}

// Renew implements origin.Leases.
func (s *Store) Renew(ctx context.Context, l origin.Lease, ttl time.Duration) (origin.Lease, error) {
	d, err := s.extend(ctx, held(l), ttl)
	if err = storeError(err); errors.Is(err, origin.ErrNotFound) {
		err = origin.ErrFenced
	}
	if err != nil {
		return origin.Lease{}, fmt.Errorf("renew lease %s: %w", l.Name, err)
	}
	return d.lease(), nil
}

// Release implements origin.Leases.
func (s *Store) Release(ctx context.Context, l origin.Lease) error {
	free := bson.D{{Key: "$set", Value: bson.D{{Key: "holder", Value: ""}, {Key: "expires", Value: time.Time{}}}}}
	if _, err := s.leases().updateOne(ctx, held(l), free); err != nil {
		return fmt.Errorf("release lease %s: %w", l.Name, storeError(err))
	}
	return nil
}

// checkLease returns origin.ErrFenced unless l is the newest of its name. It can be
// lost the moment after: what must not happen then is prevented by conditions on
// the view's meta, this only stops a writer early.
func (s *Store) checkLease(ctx context.Context, l origin.Lease) error {
	_, err := s.leases().findOne(ctx, held(l))
	if errors.Is(err, driver.ErrNoDocuments) {
		return origin.ErrFenced
	}
	return storeError(err)
}
