package registry

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/wrap"
)

// Lease is a stored lease. One without a holder is free; it is kept because the next holder's token must be greater.
type Lease struct {
	origin.Lease `bson:",inline"`
	Revision     `bson:",inline"`
	Term         time.Duration `bson:"term"` // nanoseconds
}

// take returns the lease after holder has taken or renewed it at now.
func (d Lease) take(holder string, now time.Time, term time.Duration) Lease {
	if d.Holder != holder {
		d.Holder, d.Token = holder, d.Token+1
	}
	d.Term, d.Expires = term, storedTime(now.Add(term))
	return d
}

// is returns origin.ErrFenced unless l is this lease, which stays valid until another holder takes it.
func (d Lease) is(l origin.Lease) error {
	if d.Token != l.Token || d.Holder != l.Holder || l.Token == 0 {
		return origin.ErrFenced
	}
	return nil
}

// Leases implements origin.Leases on a table.
//
// Clocks of hosts may differ by hours and be set at any time, so no instance compares its clock with a time that
// another one wrote. A holder changes the lease at every renewal. For an instance that wants the lease, it has run out
// when it has not changed for its whole term by that instance's monotonic clock. The holder counts the same term from
// before its renewal, so it always stops before another instance takes the lease.
type Leases struct {
	table   Table[Lease]
	now     func() time.Time
	elapsed func() time.Duration

	mu   sync.Mutex // guards seen
	seen map[string]sighting
}

// sighting is a lease and the time when this process first read it in this state.
type sighting struct {
	Lease
	at time.Duration
}

// NewLeases returns leases kept in a table, by the clock shown to people and a monotonic one; nil is the process's own.
func NewLeases(table Table[Lease], now func() time.Time, elapsed func() time.Duration) *Leases {
	if now == nil {
		now = time.Now
	}
	if elapsed == nil {
		start := time.Now()
		elapsed = func() time.Duration { return time.Since(start) }
	}
	return &Leases{table: table, now: now, elapsed: elapsed, seen: map[string]sighting{}}
}

func (s *Leases) Acquire(ctx context.Context, name, holder string, ttl time.Duration) (_ origin.Lease, err error) {
	defer wrap.Error(&err, "acquire lease %s", name)
	if name == "" || holder == "" {
		return origin.Lease{}, errors.New("name or holder is missing")
	}
	d, err := s.table.Update(ctx, name, func(d *Lease) error {
		d.Name = name
		if err := s.free(*d, holder); err != nil {
			return err
		}
		*d = d.take(holder, s.now(), ttl)
		return nil
	})
	return d.Lease, err
}

// free returns nil if holder may take the lease d, and an origin.ErrLeaseHeld otherwise.
func (s *Leases) free(d Lease, holder string) error {
	if d.Holder == "" || d.Holder == holder {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	first, ok := s.seen[d.Name]
	if !ok || first.Lease != d {
		first = sighting{d, s.elapsed()}
		s.seen[d.Name] = first
	}
	if s.elapsed()-first.at >= d.Term {
		return nil
	}
	return fmt.Errorf("%w: %s, until %s by its own clock; another instance may take it once it has not been renewed for %s",
		origin.ErrLeaseHeld, d.Holder, d.Expires.Format(time.RFC3339), d.Term)
}

func (s *Leases) Renew(ctx context.Context, l origin.Lease, ttl time.Duration) (_ origin.Lease, err error) {
	defer wrap.Error(&err, "renew lease %s", l.Name)
	d, err := s.table.Update(ctx, l.Name, func(d *Lease) error {
		err := d.is(l)
		*d = d.take(l.Holder, s.now(), ttl)
		return err
	})
	return d.Lease, err
}

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

func (s *Leases) Holder(ctx context.Context, name string) (_ string, err error) {
	defer wrap.Error(&err, "read lease %s", name)
	d, err := s.table.Read(ctx, name)
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
