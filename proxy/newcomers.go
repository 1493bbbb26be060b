package proxy

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"

	"vitrine/cache/origin"
	"vitrine/rules"
	"vitrine/rules/lru"
	"vitrine/rules/raw"
)

// Records reads the institute's collections as they are now; an origin.Store
// does. Only what a view does not have yet is asked of it.
type Records interface {
	Find(ctx context.Context, collection string, q origin.Query) iter.Seq2[bson.Raw, error]
}

const (
	// rememberedFor is how long the outcome of a look-up stands: long enough to keep
	// a page that asks for nobody from asking the store each time, short enough not
	// to be noticed by who has just created somebody.
	rememberedFor = 5 * time.Second
	// rememberedMost bounds how many outcomes are kept; one is a few KB at most.
	rememberedMost = 4096
	// lookUps bounds how many look-ups the store is asked at a time.
	lookUps = 4
)

// newcomers finds persons whom the views do not have yet (DESIGN.md: 20). Each
// is looked up once at a time, and what came of it, also nobody, is remembered
// briefly.
type newcomers struct {
	records Records // nil: there is nobody else
	now     func() time.Time
	turns   *semaphore.Weighted
	flights singleflight.Group

	mu    sync.Mutex // guards known
	known *lru.Cache[string, outcome]
}

// outcome is what came of a look-up.
type outcome struct {
	until  time.Time
	record bson.Raw // nil: nobody
}

func newNewcomers(records Records, now func() time.Time) *newcomers {
	return &newcomers{
		records: records, now: now, turns: semaphore.NewWeighted(lookUps),
		known: lru.New[string, outcome](rememberedMost),
	}
}

// find returns a person's stored record, or origin.ErrNotFound. A store that does
// not answer is rules.ErrUnavailable.
func (n *newcomers) find(ctx context.Context, id string) (bson.Raw, error) {
	if n.records == nil {
		return nil, origin.ErrNotFound
	}
	record, ok := n.remembered(id)
	if !ok {
		// Who joins the flight waits as long as the one who took off does: all requests
		// have the same time.
		landed, err, _ := n.flights.Do(id, func() (any, error) { return n.lookUp(ctx, id) })
		if err != nil {
			return nil, fmt.Errorf("look up person %q: %w: %w", id, rules.ErrUnavailable, err)
		}
		record = landed.(bson.Raw)
	}
	if record == nil {
		return nil, origin.ErrNotFound
	}
	return record, nil
}

// lookUp asks the store, unless another flight has landed just before this one
// took off. The record is nil if there is none.
func (n *newcomers) lookUp(ctx context.Context, id string) (bson.Raw, error) {
	if record, ok := n.remembered(id); ok {
		return record, nil
	}
	if err := n.turns.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer n.turns.Release(1)
	query, err := bson.Marshal(identified(id))
	if err != nil {
		return nil, err
	}
	found, err := n.read(ctx, "persons", origin.Query{Filter: query, Sort: bson.D{{Key: "_id", Value: 1}}, Limit: 1})
	if err != nil {
		return nil, err
	}
	var record bson.Raw
	if len(found) > 0 {
		record = found[0]
	}
	n.remember(id, record)
	return record, nil
}

// read returns the documents that answer a query and can be read all the way down:
// others are left out, as they are left out of views.
func (n *newcomers) read(ctx context.Context, collection string, q origin.Query) ([]bson.Raw, error) {
	var all []bson.Raw
	for doc, err := range n.records.Find(ctx, collection, q) {
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", collection, err)
		}
		if raw.Check(doc) == nil {
			all = append(all, doc)
		}
	}
	return all, nil
}

// remembered returns the outcome of an earlier look-up that still stands.
func (n *newcomers) remembered(id string) (record bson.Raw, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	found := n.known.Peek(id)
	if found == nil || !n.now().Before(found.until) {
		return nil, false
	}
	return found.record, true
}

// remember keeps an outcome, and forgets those that no longer stand or are too many.
func (n *newcomers) remember(id string, record bson.Raw) {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := n.now()
	for oldest, found := n.known.Oldest(); found != nil && !now.Before(found.until); oldest, found = n.known.Oldest() {
		n.known.Remove(oldest)
	}
	n.known.Put(id, outcome{until: now.Add(rememberedFor), record: record})
}
