package mongo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/leasedoc"
	"vitrine/cache/origin/internal/metadoc"
)

// leases is the collection of leases.
func (s *Store) leases() collection {
	return collection{s.views.Collection(origin.SidePrefix + "lease")}
}

// Acquire implements origin.Leases.
func (s *Store) Acquire(ctx context.Context, name, holder string, ttl time.Duration) (origin.Lease, error) {
	if name == "" || holder == "" {
		return origin.Lease{}, errors.New("acquire lease: name and holder must be given")
	}
	d, err := s.acquire(ctx, name, holder, ttl)
	if err != nil {
		return origin.Lease{}, fmt.Errorf("acquire lease %s: %w", name, err)
	}
	return d.Lease(), nil
}

// acquire reads the lease and takes it, if it may, unless it changes in between.
func (s *Store) acquire(ctx context.Context, name, holder string, ttl time.Duration) (leasedoc.Doc, error) {
	seen, err := s.readLease(ctx, name)
	if err == nil {
		err = s.watch.Check(seen, holder, ttl)
	}
	if err != nil {
		return seen, err
	}
	d := seen.Taken(holder, s.o.Now(), ttl)
	if seen.Token == 0 {
		err = s.leases().insertMany(ctx, []leasedoc.Doc{d})
	} else {
		unchanged := bson.D{{Key: "_id", Value: name}, {Key: "holder", Value: seen.Holder}, {Key: "token", Value: seen.Token}}
		if seen.Beat > 0 { // else the field is missing
			unchanged = append(unchanged, bson.E{Key: "beat", Value: seen.Beat})
		}
		set := d
		set.Name = "" // cannot be set
		err = s.leases().findAndUpdate(ctx, unchanged, bson.D{{Key: "$set", Value: set}}, false, &d)
	}
	if driver.IsDuplicateKeyError(err) || errors.Is(err, driver.ErrNoDocuments) {
		return d, fmt.Errorf("%w: it was taken or renewed a moment ago", origin.ErrLeaseHeld)
	}
	return d, storeError(err)
}

// readLease returns the lease of that name, without a holder if there never was one.
func (s *Store) readLease(ctx context.Context, name string) (d leasedoc.Doc, err error) {
	err = s.leases().read(ctx, name, &d)
	d.Name = name
	return d, err
}

// held is the filter that finds a lease as long as it is the newest of its name.
func held(l origin.Lease) bson.D {
	return bson.D{{Key: "_id", Value: l.Name}, {Key: "holder", Value: l.Holder}, {Key: "token", Value: l.Token}}
}

// Renew implements origin.Leases.
func (s *Store) Renew(ctx context.Context, l origin.Lease, ttl time.Duration) (origin.Lease, error) {
	var d leasedoc.Doc
	beat := bson.D{
		{Key: "$set", Value: bson.D{{Key: "expires", Value: metadoc.Time(s.o.Now().Add(ttl))}, {Key: "term", Value: ttl}}},
		{Key: "$inc", Value: bson.D{{Key: "beat", Value: int64(1)}}},
	}
	err := s.leases().findAndUpdate(ctx, held(l), beat, false, &d)
	if err = storeError(err); errors.Is(err, origin.ErrNotFound) {
		err = origin.ErrFenced
	}
	if err != nil {
		return origin.Lease{}, fmt.Errorf("renew lease %s: %w", l.Name, err)
	}
	return d.Lease(), nil
}

// Release implements origin.Leases.
func (s *Store) Release(ctx context.Context, l origin.Lease) error {
	free := bson.D{{Key: "$set", Value: bson.D{{Key: "holder", Value: ""}, {Key: "expires", Value: time.Time{}}}}}
	if _, err := s.leases().updateOne(ctx, held(l), free); err != nil {
		return fmt.Errorf("release lease %s: %w", l.Name, storeError(err))
	}
	return nil
}

// Holder implements origin.Leases.
func (s *Store) Holder(ctx context.Context, name string) (string, error) {
	doc, err := s.leases().findOne(ctx, bson.D{{Key: "_id", Value: name}})
	if err != nil && !errors.Is(err, driver.ErrNoDocuments) {
		return "", fmt.Errorf("read lease %s: %w", name, storeError(err))
	}
	holder, _ := doc.Lookup("holder").StringValueOK()
	return holder, nil
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
