package api

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/cache/origin"
	"vitrine/rules"
	"vitrine/rules/flight"
	"vitrine/rules/lru"
	"vitrine/rules/raw"
)

// Records reads the institute's collections, of which handlers need only records that a view does not have yet.
// Find yields documents that the caller may keep, or an error as the last element.
type Records interface {
	Find(ctx context.Context, collection string, q origin.Query) iter.Seq2[bson.Raw, error]
}

const (
	// lookupTTL is how long a look-up is valid: long enough that a page that requests a missing person does not query
	// the store each time, short enough that a new person appears soon.
	lookupTTL = 5 * time.Second
	// maxLookups is how many look-ups stay in memory; each takes a few KB at most.
	maxLookups = 4096
)

// personLookup finds persons that the views do not have yet. It looks up each id once at a time, and briefly caches
// the record, or the fact that there is none. The store's admission queue bounds how many run at a time. A person
// of today is in the store before the next run publishes the view. Without this look-up the portal would answer 404
// for a colleague until then. To look up each request would let anybody's made-up names reach the store, so absence
// is cached as well.
type personLookup struct {
	records Records // if nil, all persons are unknown
	now     func() time.Time
	timeout time.Duration // of one look-up
	flights flight.Group[string, bson.Raw]

	mu    sync.Mutex                 // guards cache
	cache *lru.Cache[string, lookup] // by id
}

type lookup struct {
	until  time.Time // when it expires
	record bson.Raw  // nil if there is no such person
}

func newPersonLookup(records Records, now func() time.Time, timeout time.Duration) *personLookup {
	return &personLookup{
		records: records, now: now, timeout: timeout,
		cache: lru.New[string, lookup](maxLookups),
	}
}

// find returns a person's stored record, or nil. It returns rules.ErrUnavailable if the store does not answer. The
// flight ends after l.timeout, or earlier with the deadline of the request that leads it. Requests that wait in it
// and have time left lead one themselves: Expired marks the error as the leader's alone.
func (l *personLookup) find(ctx context.Context, id string) (bson.Raw, error) {
	if l.records == nil {
		return nil, nil
	}
	l.mu.Lock()
	known := l.cache.Peek(id) // entries are replaced, never changed
	l.mu.Unlock()
	if known != nil && l.now().Before(known.until) {
		return known.record, nil
	}
	latest, limited := ctx.Deadline()
	found, _, err := l.flights.Do(ctx, id, func(ctx context.Context) (bson.Raw, error) {
		end := time.Now().Add(l.timeout)
		if limited && latest.Before(end) {
			end = latest // the caller waits no longer, and other requests need the slot in the store's queue
		}
		ctx, cancel := context.WithDeadline(ctx, end)
		defer cancel()
		found, err := l.lookUp(ctx, id)
		if err != nil && (ctx.Err() != nil || errors.Is(err, fair.ErrLate)) {
			err = flight.Expired(err)
		}
		return found, err
	})
	if err != nil {
		return nil, fmt.Errorf("look up person %q: %w: %w", id, rules.ErrUnavailable, err)
	}
	return found, nil
}

func (l *personLookup) lookUp(ctx context.Context, id string) (bson.Raw, error) {
	path, value := keyOf(id)
	query, err := bson.Marshal(bson.D{{Key: path, Value: bson.D{{Key: "$eq", Value: value}}}})
	if err != nil {
		return nil, err
	}
	found, err := l.read(ctx, "persons", origin.Query{Filter: query, Sort: raw.Sort{raw.ByID}, Limit: 1})
	if err != nil {
		return nil, err
	}
	found = append(found, nil) // nil if there is no record
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cache.Put(id, lookup{until: l.now().Add(lookupTTL), record: found[0]})
	return found[0], nil
}

// read returns the documents that match a query. Like views, it leaves out malformed ones.
func (l *personLookup) read(ctx context.Context, collection string, q origin.Query) ([]bson.Raw, error) {
	var all []bson.Raw
	for doc, err := range l.records.Find(ctx, collection, q) {
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", collection, err)
		}
		if raw.Check(doc) == nil {
			all = append(all, doc)
		}
	}
	return all, nil
}

// keyOf returns what identifies a person: an ObjectID is an _id, all else a username. A username of 24 hexadecimal
// digits is therefore not found by its name.
func keyOf(id string) (path string, value any) {
	if oid, err := bson.ObjectIDFromHex(id); err == nil {
		return "_id", oid
	}
	return "username", id
}
