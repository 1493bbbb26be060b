package registry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/wrap"
)

// Lease is a stored lease. One without a holder is free; it is kept because the next holder's token must be greater.
type Lease struct {
	origin.Lease `bson:",inline"`
	Revision     `bson:",inline"`
	Term         time.Duration `bson:"term"` // nanoseconds
	// Source is as in origin.Meta. Two institutes that share a lease would keep each other from publishing.
	Source string `bson:"source,omitempty"`
}

// SourceField returns a pointer to the source database of a stored lease.
func (d *Lease) SourceField() *string { return &d.Source }

// UnmarshalBSON implements bson.Unmarshaler and returns no error: a lease that cannot be read is free, because its
// holder cannot renew it either. UnmarshalBSON keeps its token and revision if it can read them, so that both go on
// growing.
func (d *Lease) UnmarshalBSON(doc []byte) error {
	type plain Lease // without this method
	var whole plain
	if bson.Unmarshal(doc, &whole) == nil {
		*d = Lease(whole)
		return nil
	}
	*d = Lease{}
	d.Token, d.Revision.Revision = count(doc, "token"), count(doc, "rev")
	return nil
}

// TokenOf returns the fencing token in a stored meta, or 0 if it cannot be read.
func TokenOf(meta bson.Raw) uint64 { return count(meta, "token") }

// count returns a number in a document, or 0 if the field is no number that this program could have written.
func count(doc bson.Raw, field string) (n uint64) {
	if v, err := doc.LookupErr(field); err != nil || v.Unmarshal(&n) != nil {
		return 0
	}
	return n
}

// current reports whether the lease has a holder and a valid term.
func (d Lease) current() bool { return d.Holder != "" && d.Term > 0 && d.Term <= origin.MaxTerm }

// take returns the lease after holder has taken or renewed it at now. Its token is at least newest. It is greater
// than before, and than newest, if the holder changes or the lease's token is less than newest.
func (d Lease) take(holder string, newest uint64, now time.Time, term time.Duration) Lease {
	if d.Holder != holder || d.Token < newest {
		d.Holder, d.Token = holder, max(d.Token, newest)+1
	}
	d.Term, d.Expires = term, storedTime(now.Add(term))
	return d
}

// is returns origin.ErrFenced unless l is this lease, which stays valid until another holder takes it.
func (d Lease) is(l origin.Lease) error {
	if d.Token != l.Token || d.Holder != l.Holder || l.Token == 0 {
		return fmt.Errorf("%w: the lease belongs to %q with token %d, not to %q with token %d",
			origin.ErrFenced, d.Holder, d.Token, l.Holder, l.Token)
	}
	return nil
}

// Leases implements origin.Leases on a table.
//
// Clocks of hosts may differ by hours and be set at any time, so no instance compares its clock with a time that
// another one wrote. A holder changes the lease at every renewal. For an instance that wants the lease, it has run
// out when it has not changed for its whole term by that instance's monotonic clock. The holder counts the same term
// from before its renewal, so it always stops before another instance takes the lease.
//
// A lease may be lost, damaged, or restored from a dump that is older than the metas. So a holder takes a fencing
// token that is greater than the lease's and those of all metas. Reading the metas and writing the lease are two
// steps, and the holder of the lost lease may write its own token to a meta in between:
//
//   - A greater token fences the new holder off from that view.
//   - So does an equal token, because a meta also names the holder that first wrote its token.
//   - The new holder fences off a lower token.
//
// In each case only one of the two publishes the view. Later, Check refuses the old holder. If the new holder was
// fenced off, it releases the lease and takes it again, with a token greater than those in all metas.
type Leases struct {
	table   Table[Lease]
	newest  func(context.Context) (uint64, error) // returns the greatest token of all metas
	now     func() time.Time
	elapsed func() time.Duration
	seen    *sightings[Lease]
}

// NewLeases returns leases kept in a table. newest returns the greatest token of all metas, which new tokens exceed.
// now is the clock shown to people, elapsed a monotonic clock; if nil, the process's own clocks are used.
func NewLeases(
	table Table[Lease], newest func(context.Context) (uint64, error),
	now func() time.Time, elapsed func() time.Duration,
) *Leases {
	if now == nil {
		now = time.Now
	}
	if elapsed == nil {
		start := time.Now()
		elapsed = func() time.Duration { return time.Since(start) }
	}
	return &Leases{table: table, newest: newest, now: now, elapsed: elapsed, seen: newSightings[Lease](elapsed)}
}

// Acquire implements origin.Leases.
func (s *Leases) Acquire(ctx context.Context, name, holder string, ttl time.Duration) (_ origin.Lease, err error) {
	defer wrap.Error(&err, "acquire lease %s", name)
	if name == "" || holder == "" {
		return origin.Lease{}, errors.New("name or holder is missing")
	}
	if err := checkTerm(ttl); err != nil {
		return origin.Lease{}, err
	}
	// Read the lease first: a waiting instance calls Acquire often, and need not read the metas each time.
	d, err := s.table.Read(ctx, name)
	d.Name = name
	if err == nil {
		err = d.free(s.seen, holder)
	}
	var newest uint64
	if err == nil {
		newest, err = s.newest(ctx)
	}
	if err != nil {
		return origin.Lease{}, err
	}
	d, err = s.table.Update(ctx, name, func(d *Lease) error {
		d.Name = name
		if err := d.free(s.seen, holder); err != nil {
			return err
		}
		*d = d.take(holder, newest, s.now(), ttl)
		return nil
	})
	return d.Lease, err
}

// checkTerm returns an error for a term that other instances would consider damaged.
func checkTerm(ttl time.Duration) error {
	if ttl <= 0 || ttl > origin.MaxTerm {
		return fmt.Errorf("term %v: want more than 0 and at most %v", ttl, origin.MaxTerm)
	}
	return nil
}

// free returns nil if holder may take the lease, and an origin.ErrLeaseHeld otherwise.
func (d Lease) free(seen *sightings[Lease], holder string) error {
	if !d.current() || d.Holder == holder {
		return nil
	}
	if seen.expired(d.Name, d, d.Term) {
		return nil
	}
	return fmt.Errorf(
		"%w: %s, until %s by its own clock; another instance may take it once it has not been renewed for %s",
		origin.ErrLeaseHeld, d.Holder, d.Expires.Format(time.RFC3339), d.Term)
}

// Renew implements origin.Leases. A holder whose lease has expired, but was not taken, may still renew it.
func (s *Leases) Renew(ctx context.Context, l origin.Lease, ttl time.Duration) (_ origin.Lease, err error) {
	defer wrap.Error(&err, "renew lease %s", l.Name)
	if err := checkTerm(ttl); err != nil {
		return origin.Lease{}, err
	}
	d, err := s.table.Update(ctx, l.Name, func(d *Lease) error {
		err := d.is(l)
		*d = d.take(l.Holder, l.Token, s.now(), ttl)
		return err
	})
	return d.Lease, err
}

// Release implements origin.Leases. The document stays, for its token.
func (s *Leases) Release(ctx context.Context, l origin.Lease) (err error) {
	defer wrap.Error(&err, "release lease %s", l.Name)
	_, err = s.table.Update(ctx, l.Name, func(d *Lease) error {
		err := d.is(l)
		d.Holder, d.Expires = "", time.Time{}
		return err
	})
	if errors.Is(err, origin.ErrFenced) {
		return nil
	}
	return err
}

// Holder implements origin.Leases.
func (s *Leases) Holder(ctx context.Context, name string) (_ string, err error) {
	defer wrap.Error(&err, "read lease %s", name)
	d, err := s.table.Read(ctx, name)
	if !d.current() {
		return "", err
	}
	return d.Holder, err
}

// Check returns origin.ErrFenced unless l is the newest of its name. It only stops a writer early: a lease lost a
// moment later fails the conditions on the view's meta.
func (s *Leases) Check(ctx context.Context, l origin.Lease) error {
	d, err := s.table.Read(ctx, l.Name)
	if err != nil {
		return err
	}
	return d.is(l)
}
