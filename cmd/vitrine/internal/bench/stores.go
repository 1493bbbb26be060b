package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cmd/vitrine/internal/bench/report"
	"vitrine/rules"
)

const (
	// A store is asked the question of a case this often, or until it has taken so long.
	storeTimes = 25
	storeTime  = 2 * time.Second
	storeLeast = 3
	// copied begins the names of the collections with another server's copies.
	copied = "vitrine_bench_"
	// copyBatch is within what every server takes in one command.
	copyBatch = 90
)

// asking is a store that is asked the questions of cases.
type asking struct {
	kind    string // for Asked.Store
	store   origin.Source
	prefix  string   // of the names of collections there
	only    []string // the collections that it has; nil means all
	indexed []string // paths that it finds by an index
}

// askStore asks a store the questions of the chosen cases.
func (b *bench) askStore(ctx context.Context, a asking) error {
	for _, c := range b.words.cases() {
		collection := cmp.Or(c.Collection, collectionActivities)
		if c.Supply < 1 || c.Query == nil || !b.wants(c.Name) || a.only != nil && !slices.Contains(a.only, collection) {
			continue
		}
		b.Progress(fmt.Sprintf("%s on %s", c.Name, a.kind))
		asked, err := askTimes(ctx, a.store, c, a.prefix+collection)
		if errors.Is(err, origin.ErrUnsupported) || errors.Is(err, rules.ErrWrongCall) {
			asked.Error, err = err.Error(), nil // it knows less of the query language
		}
		if err != nil {
			return fmt.Errorf("case %s: %w", c.Name, err)
		}
		asked.Store, asked.By = a.kind, report.ByIndex
		if c.Index == nil || slices.ContainsFunc(c.Index, func(path string) bool { return !slices.Contains(a.indexed, path) }) {
			asked.By = report.ByScan
		}
		b.asked[c.Name] = append(b.asked[c.Name], asked)
	}
	return nil
}

// askTimes asks a store the question of a case, several times, each time in other
// words where there are any, and reads the answers to their end.
func askTimes(ctx context.Context, store origin.Source, c Case, collection string) (report.Asked, error) {
	var all []time.Duration
	began := time.Now()
	for n := 0; n < storeTimes && (n < storeLeast || time.Since(began) < storeTime); n++ {
		q, err := c.Query(n * 7919 % c.Supply)
		if err != nil {
			return report.Asked{}, err
		}
		took, err := timeOf(ctx, store, collection, q)
		if err != nil {
			return report.Asked{}, err
		}
		all = append(all, took)
	}
	return report.Asked{P50: report.MedianOf(all)}, nil
}

// timeOf asks a store once.
func timeOf(ctx context.Context, store origin.Source, collection string, q origin.Query) (time.Duration, error) {
	began := time.Now()
	for _, err := range store.Find(ctx, collection, q) {
		if err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}

// server is a MongoDB-compatible server, which takes copies.
type server interface {
	origin.Store
	// Insert stores documents that the collection does not have.
	Insert(ctx context.Context, collection string, docs []bson.Raw) error
	// EnsureIndex creates an index on the keys of a collection's documents, unless
	// there is one.
	EnsureIndex(ctx context.Context, collection string, keys bson.D) error
}

// indexes are those that another server's copies get beside the one on _id: the cases'
// filters and orders can be answered by them.
var indexes = []struct {
	collection string
	keys       bson.D
}{
	{collectionActivities, bson.D{{Key: "type", Value: 1}}},
	{collectionActivities, bson.D{{Key: "authors.user", Value: 1}}},
	{collectionActivities, bson.D{{Key: "start_date", Value: 1}}},
	{collectionActivities, bson.D{{Key: "title", Value: 1}}},
	{collectionActivities, newestFirst()},
	{collectionPersons, bson.D{{Key: "username", Value: 1}}},
	{collectionProjects, bson.D{{Key: "funding_number", Value: 1}}},
}

// askOther copies collections to another server and asks it the same questions.
func (b *bench) askOther(ctx context.Context) (err error) {
	if b.Against == "" {
		return nil
	}
	store, err := b.Program.Open(ctx, b.Against)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	other, ok := store.(server)
	if !ok {
		return fmt.Errorf("%s is no MongoDB-compatible server", store.Name())
	}
	b.run.Against = other.Name()
	a := asking{
		kind: report.Other, store: other, prefix: copied,
		only: []string{collectionActivities, collectionPersons, collectionProjects}, indexed: []string{"_id"},
	}
	for _, name := range a.only {
		b.Progress(fmt.Sprintf("copying %s to %s", name, other.Name()))
		if err := b.copyTo(ctx, other, name); err != nil {
			return err
		}
	}
	for _, index := range indexes {
		path := index.keys[0].Key
		if err := other.EnsureIndex(ctx, copied+index.collection, index.keys); err != nil {
			b.note("the other server takes no index on %s: %v", path, err)
			continue
		}
		b.Progress("is the index on " + path + " used?")
		used, err := indexUsed(ctx, other, copied+index.collection, path)
		if err != nil {
			return err
		}
		if used {
			a.indexed = append(a.indexed, path)
		} else {
			b.note("the other server has an index on %s and scans nevertheless", path)
		}
	}
	return b.askStore(ctx, a)
}

// copyTo replaces the other server's copy of a collection.
func (b *bench) copyTo(ctx context.Context, other server, collection string) (err error) {
	store, err := b.Program.Open(ctx, b.uri)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if _, err := other.Retain(ctx, copied+collection, func(bson.RawValue) bool { return false }); err != nil {
		return err
	}
	return Copy(ctx, store, collection, copyBatch, func(docs []bson.Raw) error { return other.Insert(ctx, copied+collection, docs) })
}

// indexUsed reports whether the server misses a value that no document has in much less
// time on the path than on one that no document has and no index can be on.
func indexUsed(ctx context.Context, store origin.Source, collection, path string) (bool, error) {
	miss := func(path string) (time.Duration, error) {
		q, err := equal(path, "vitrine bench: no document has this")
		if err != nil {
			return 0, err
		}
		q.Limit = 1
		return timeOf(ctx, store, collection, q)
	}
	scan, err := miss("vitrine_bench_nothing")
	if err != nil {
		return false, err
	}
	look, err := miss(path)
	return look < scan/4, err
}
