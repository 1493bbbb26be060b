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
	// A server is asked the question of a case this often, or until it has taken so long.
	serverTimes = 25
	serverTime  = 2 * time.Second
	serverLeast = 3
	// copied begins the names of the collections with the server's copies.
	copied = "vitrine_bench_"
	// copyBatch is within what every server takes in one command.
	copyBatch = 90
)

// server is a MongoDB-compatible server, which takes copies.
type server interface {
	origin.Store
	// Insert stores documents that the collection does not have.
	Insert(ctx context.Context, collection string, docs []bson.Raw) error
	// EnsureIndex creates an index on the keys of a collection's documents, unless
	// there is one.
	EnsureIndex(ctx context.Context, collection string, keys bson.D) error
}

// indexes are those that the copies get beside the one on _id: the cases' filters and
// orders can be answered by them.
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

// askOther copies collections of the store to another server and asks it the questions of
// the chosen cases.
func (b *bench) askOther(ctx context.Context, store origin.Store) (err error) {
	if b.Against == "" {
		return nil
	}
	opened, err := b.Program.Open(ctx, b.Against)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	other, ok := opened.(server)
	if !ok {
		return fmt.Errorf("%s is no MongoDB-compatible server", opened.Name())
	}
	b.run.Against = other.Name()
	for _, name := range []string{collectionActivities, collectionPersons, collectionProjects} {
		b.Progress(fmt.Sprintf("copying %s to %s", name, other.Name()))
		if _, err := other.Retain(ctx, copied+name, func(bson.RawValue) bool { return false }); err != nil {
			return err
		}
		insert := func(docs []bson.Raw) error { return other.Insert(ctx, copied+name, docs) }
		if err := Copy(ctx, store, name, copyBatch, insert); err != nil {
			return err
		}
	}
	indexed, err := b.index(ctx, other)
	if err != nil {
		return err
	}
	return b.askCases(ctx, other, indexed)
}

// index creates the indexes and returns the paths that the server finds by one.
func (b *bench) index(ctx context.Context, other server) ([]string, error) {
	indexed := []string{"_id"}
	for _, index := range indexes {
		path := index.keys[0].Key
		if err := other.EnsureIndex(ctx, copied+index.collection, index.keys); err != nil {
			b.note("the other server takes no index on %s: %v", path, err)
			continue
		}
		b.Progress("is the index on " + path + " used?")
		used, err := indexUsed(ctx, other, copied+index.collection, path)
		if err != nil {
			return nil, err
		}
		if used {
			indexed = append(indexed, path)
		} else {
			b.note("the other server has an index on %s and scans nevertheless", path)
		}
	}
	return indexed, nil
}

// indexUsed reports whether the server misses a value that no document has in much less
// time on the path than on one that no document has and no index can be on.
func indexUsed(ctx context.Context, store origin.Source, collection, path string) (bool, error) {
	miss := func(path string) (time.Duration, error) {
		filter, err := bson.Marshal(bson.D{{Key: path, Value: "vitrine bench: no document has this"}})
		if err != nil {
			return 0, err
		}
		return timeOf(ctx, store, collection, origin.Query{Filter: filter, Limit: 1})
	}
	scan, err := miss("vitrine_bench_nothing")
	if err != nil {
		return false, err
	}
	look, err := miss(path)
	return look < scan/4, err
}

// askCases asks a server the questions of the chosen cases. indexed are the paths that it
// finds by an index.
func (b *bench) askCases(ctx context.Context, other origin.Source, indexed []string) error {
	for _, c := range b.words.cases() {
		if c.Supply < 1 || c.Query == nil || !b.wants(c.Name) {
			continue
		}
		b.Progress(c.Name + " on the other server")
		asked := &report.Asked{By: report.ByIndex}
		if c.Index == nil || slices.ContainsFunc(c.Index, func(path string) bool { return !slices.Contains(indexed, path) }) {
			asked.By = report.ByScan
		}
		var err error
		asked.P50, err = askTimes(ctx, other, c)
		if errors.Is(err, origin.ErrUnsupported) || errors.Is(err, rules.ErrWrongCall) {
			asked.Error, err = err.Error(), nil // it knows less of the query language
		}
		if err != nil {
			return fmt.Errorf("case %s: %w", c.Name, err)
		}
		b.asked[c.Name] = asked
	}
	return nil
}

// askTimes asks a server the question of a case several times, each time in other words
// where there are any, and returns the median of the times.
func askTimes(ctx context.Context, other origin.Source, c Case) (time.Duration, error) {
	var all []time.Duration
	began := time.Now()
	for n := 0; n < serverTimes && (n < serverLeast || time.Since(began) < serverTime); n++ {
		q, err := c.Query(n * 7919 % c.Supply)
		if err != nil {
			return 0, err
		}
		took, err := timeOf(ctx, other, copied+cmp.Or(c.Server.Collection, collectionActivities), q)
		if err != nil {
			return 0, err
		}
		all = append(all, took)
	}
	return report.MedianOf(all), nil
}

// timeOf asks a store once and reads the answer to its end.
func timeOf(ctx context.Context, store origin.Source, collection string, q origin.Query) (time.Duration, error) {
	began := time.Now()
	for _, err := range store.Find(ctx, collection, q) {
		if err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}
