package kept

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"vitrine/rules"
	"vitrine/rules/flight"
)

const (
	// The longest that a client waits.
	patience = 2 * time.Second // for the new answer, where there is a stale one
	tries    = 3               // flights of one Get, if what they bring is already out of date
)

// Get returns the answer of a key under a rule. A fresh one comes from memory. Otherwise one flight asks the other
// server, and Get waits for it: for a kept answer that is stale, no longer than 2 s after the flight began, and not
// at all within Rule.Revalidate; then, and if the other server fails, Get returns the stale one for Rule.Stale.
// Flights count against the client that begins them: with too many under way, it gets a *rules.RetryError. A prefix
// that is not valid has no limit. Other errors are those of Options.Fetch, and the context's. A hit takes no lock
// but the index's, for reading.
func (k *Keeper) Get(ctx context.Context, client netip.Prefix, rule *Rule, key string) (Found, error) {
	if rule.state == nil {
		return Found{}, fmt.Errorf("kept answer of %s: the rule is not in use: %w", key, rules.ErrUnavailable)
	}
	now := k.clock.now()
	e := k.store.index.get(key)
	if e != nil {
		e.slot.pending.Add(1)
		e.slot.asked.Store(now.UnixMilli())
		if k.clock.fresh(e, rule, now) {
			rule.state.hits.Add(1)
			return Found{Entry: e.under(rule), Outcome: Hit}, nil
		}
	}
	found, err := k.await(ctx, client, rule, key)
	if err != nil {
		return Found{}, fmt.Errorf("kept answer of %s: %w", key, err)
	}
	if e == nil && found.Entry != nil && found.Entry.slot != nil { // the key's first request
		found.Entry.slot.pending.Add(1)
		found.Entry.slot.asked.Store(now.UnixMilli())
	}
	found.Entry = found.Entry.under(rule)
	return found, nil
}

// await is Get for an answer that is not fresh.
func (k *Keeper) await(ctx context.Context, client netip.Prefix, rule *Rule, key string) (Found, error) {
	if len(key) > MaxKey {
		return Found{}, rules.Wrongf("", "", "path and parameters are longer than %d bytes", MaxKey)
	}
	// a flight that began before these changes may bring an answer without them
	wanted := k.clock.marks(k.clock.now())
	// Counted from the first flight, so that a second one does not double the wait.
	var patient time.Time
	for try := 1; ; try++ {
		old := k.usable(rule, key)
		if old != nil && old.slot.pausing(k.clock.now()) {
			return k.stale(old, rule, upstreamFailed), nil
		}
		f, err := k.begin(&fetch{key: key, rule: rule, client: client})
		switch {
		case err != nil && old != nil:
			return k.stale(old, rule, revalidating), nil
		case err != nil:
			return Found{}, err
		case f == nil: // it has just become fresh
			if e := k.store.index.get(key); e != nil {
				return Found{Entry: e, Outcome: Shared}, nil
			}
			continue // and was dropped since
		case old != nil && k.withinRevalidate(old, rule):
			return k.stale(old, rule, revalidating), nil
		}
		if patient.IsZero() {
			patient = f.began.Add(patience)
		}
		found, err := k.wait(ctx, f, old, patient)
		if err != nil || found.Entry == nil || found.Outcome == Stale || !wanted.newer(found.Entry, rule) {
			return found, err
		}
		if try == tries {
			return k.stale(found.Entry, rule, revalidating), nil
		}
	}
}

// usable returns the entry of a key if it may be sent although it is stale, or nil. An entry whose body could not
// be read lately is not usable, since there would be nothing to send.
func (k *Keeper) usable(rule *Rule, key string) *Entry {
	e, now := k.store.index.get(key), k.clock.now()
	if e == nil || e.lost.Load() > now.UnixMilli() || !now.Before(e.usableUntil(rule)) {
		return nil
	}
	return e
}

// withinRevalidate reports whether a stale entry is sent without waiting. It counts from when the entry was first
// found stale, so that further changes do not make the time longer. Of concurrent callers, the first one records
// the time, and the others use it.
func (k *Keeper) withinRevalidate(e *Entry, rule *Rule) bool {
	if rule.Revalidate == 0 {
		return false
	}
	now := k.clock.now()
	m := k.clock.marks(now)
	since := m.staleSince(e, rule, now.UnixMilli())
	if !e.stale.CompareAndSwap(0, since) {
		since = e.stale.Load()
	}
	return now.UnixMilli() < since+rule.Revalidate.Milliseconds()
}

// begin joins the flight of a key, or begins one. It returns nil if the entry is fresh by now. It returns as soon
// as the flight is under way. The flight uses the keeper's context, not the caller's.
func (k *Keeper) begin(f *fetch) (*fetch, error) {
	f.Run, f.began, f.others = flight.NewRun[Found](), k.clock.now(), make(chan struct{})
	joined, begun, err := k.store.flights.join(f, func() bool {
		e := k.store.index.get(f.key)
		return e != nil && !f.force && k.clock.freshUntil(e, f.rule, f.due)
	})
	if begun {
		go k.fly(f)
	}
	return joined, err
}

// wait waits for a flight, and if there is an old entry that may be sent, no longer than until patient.
//
// A caller that leaves does not end the flight: the answer is kept for the next one. A failure is hidden by an
// answer that may be sent instead, as RFC 5861 says of stale-if-error.
func (k *Keeper) wait(ctx context.Context, f *fetch, old *Entry, patient time.Time) (Found, error) {
	var late <-chan time.Time
	if old != nil {
		timer := time.NewTimer(patient.Sub(k.clock.now()))
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-f.Done():
	case <-late:
		return k.stale(old, f.rule, revalidating), nil
	case <-ctx.Done():
		return Found{}, context.Cause(ctx)
	}
	if old == nil { // the flight may have found it in the store
		old = k.usable(f.rule, f.key)
	}
	found, err := f.Result()
	_, busy := errors.AsType[*rules.RetryError](err)
	switch {
	case old != nil && busy:
		return k.stale(old, f.rule, revalidating), nil
	case old != nil && (err != nil || found.Outcome == Passed):
		return k.stale(old, f.rule, upstreamFailed), nil
	}
	return found, err
}

// stale returns a stale entry. reason is one of the constants for Found.Reason.
func (k *Keeper) stale(e *Entry, rule *Rule, reason string) Found {
	rule.state.served.Add(1)
	return Found{Entry: e, Outcome: Stale, Reason: reason}
}

// Turn waits until a request to the other server may begin that the caller sends itself, for an answer that is too
// long to be kept: it counts for the rule's rate and connections as all others. The caller calls done when the answer
// has begun. The error is a *rules.RetryError or the context's.
func (k *Keeper) Turn(ctx context.Context, rule *Rule) (done func(), err error) {
	if done, err = rule.state.pace.turn(ctx); err != nil {
		return nil, fmt.Errorf("turn for an answer of %s that is not kept: %w", rule.Name, err)
	}
	return done, nil
}

// Current reports whether Get would return an entry as a hit. It counts the request if so: it is for requests that
// repeat another one.
//
// The caller holds an entry that Get returned a moment ago. If the key was dropped, or has another entry, the slot
// says so.
func (k *Keeper) Current(e *Entry) bool {
	now := k.clock.now()
	if e.slot == nil || e.Rule == nil || e.slot.entry.Load() != e || !k.clock.fresh(e, e.Rule, now) {
		return false
	}
	e.slot.pending.Add(1)
	e.slot.asked.Store(now.UnixMilli())
	e.Rule.state.hits.Add(1)
	return true
}

// Peek returns the entry of a key, or nil. It asks neither the store nor the other server. It counts no request, so
// looking at an answer does not make it seem popular.
func (k *Keeper) Peek(key string) *Entry {
	if e := k.store.index.get(key); e != nil && e.Rule != nil {
		return e
	}
	return nil
}

// Renew fetches a key now, whatever is kept, and returns what Get would: for an operator who knows that it has
// changed. If the other server fails, it returns the stale answer like Get. It joins a flight under way, but then
// begins its own.
func (k *Keeper) Renew(ctx context.Context, rule *Rule, key string) (Found, error) {
	if len(key) > MaxKey {
		return Found{}, rules.Wrongf("", "", "path and parameters are longer than %d bytes", MaxKey)
	}
	for {
		own := &fetch{key: key, rule: rule, force: true}
		f, err := k.begin(own)
		if err != nil {
			return Found{}, fmt.Errorf("renew the kept answer of %s: %w", key, err)
		}
		found, err := k.wait(ctx, f, k.usable(rule, key), f.began.Add(flightTime))
		if f == own || err != nil && ctx.Err() != nil {
			// the request of another flight may have begun before this call
			return found, err
		}
	}
}
