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
	"vitrine/cache/origin/internal/wrap"
)

// leases is the collection of leases.
type leases struct {
	collection collection
	watch      *leasedoc.Watch
	now        func() time.Time
}

// Acquire implements origin.Leases. It reads the lease and takes it, if it may, unless it
// changes in between.
func (s leases) Acquire(ctx context.Context, name, holder string, ttl time.Duration) (_ origin.Lease, err error) {
	defer wrap.Error(&err, "acquire lease %s", name)
	if name == "" || holder == "" {
		return origin.Lease{}, errors.New("name and holder must be given")
	}
	var seen leasedoc.Doc
	if err := s.collection.read(ctx, name, &seen); err != nil {
		return origin.Lease{}, err
	}
	seen.Name = name // there may be none yet
	if err := s.watch.Check(seen, holder, ttl); err != nil {
		return origin.Lease{}, err
	}
	d := seen.Taken(holder, s.now(), ttl)
	if seen.Token == 0 {
		err = s.collection.insertMany(ctx, []leasedoc.Doc{d})
	} else {
		unchanged := held(seen.Lease)
		if seen.Beat > 0 { // else the field is missing
			unchanged = append(unchanged, bson.E{Key: "beat", Value: seen.Beat})
		}
		fields := d
		fields.Name = "" // cannot be set
		err = s.collection.findAndUpdate(ctx, unchanged, set(fields), false, &d)
	}
	if driver.IsDuplicateKeyError(err) || errors.Is(err, origin.ErrNotFound) {
		err = fmt.Errorf("%w: it was taken or renewed a moment ago", origin.ErrLeaseHeld)
	}
	if err != nil {
		return origin.Lease{}, err
	}
	return d.Lease, nil
}

// held is the filter that finds a lease as long as it is the newest of its name.
func held(l origin.Lease) bson.D {
	return bson.D{{Key: "_id", Value: l.Name}, {Key: "holder", Value: l.Holder}, {Key: "token", Value: l.Token}}
}

// Renew implements origin.Leases.
func (s leases) Renew(ctx context.Context, l origin.Lease, ttl time.Duration) (_ origin.Lease, err error) {
	defer wrap.Error(&err, "renew lease %s", l.Name)
	var d leasedoc.Doc
	beat := bson.D{
		{Key: "$set", Value: bson.D{{Key: "expires", Value: metadoc.Time(s.now().Add(ttl))}, {Key: "term", Value: ttl}}},
		{Key: "$inc", Value: bson.D{{Key: "beat", Value: int64(1)}}},
	}
	err = fencedUnlessFound(s.collection.findAndUpdate(ctx, held(l), beat, false, &d))
	return d.Lease, err
}

// Release implements origin.Leases.
func (s leases) Release(ctx context.Context, l origin.Lease) (err error) {
	defer wrap.Error(&err, "release lease %s", l.Name)
	_, err = s.collection.updateOne(ctx, held(l), set(bson.D{{Key: "holder", Value: ""}, {Key: "expires", Value: time.Time{}}}))
	return err
}

// Holder implements origin.Leases.
func (s leases) Holder(ctx context.Context, name string) (_ string, err error) {
	defer wrap.Error(&err, "read lease %s", name)
	var d leasedoc.Doc
	err = s.collection.read(ctx, name, &d)
	return d.Holder, err
}

// check returns origin.ErrFenced unless l is the newest of its name. It can be
// lost the moment after: what must not happen then is prevented by conditions on
// the view's meta, this only stops a writer early.
func (s leases) check(ctx context.Context, l origin.Lease) error {
	_, err := s.collection.findOne(ctx, held(l))
	return fencedUnlessFound(err)
}

// fencedUnlessFound is the error of a change whose condition is that the writer is not
// fenced off.
func fencedUnlessFound(err error) error {
	if errors.Is(err, origin.ErrNotFound) {
		return origin.ErrFenced
	}
	return err
}
