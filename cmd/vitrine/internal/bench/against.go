package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
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
		if err := Batches(store.Scan(ctx, name), copyBatch, insert); err != nil {
			return err
		}
	}
	for _, index := range indexes {
		if err := other.EnsureIndex(ctx, copied+index.collection, index.keys); err != nil {
			b.note("the other server takes no index on %s: %v", index.keys[0].Key, err)
		}
	}
	return b.askCases(ctx, other)
}

// askCases asks a server the questions of the chosen cases.
func (b *bench) askCases(ctx context.Context, other origin.Source) error {
	for _, c := range cases() {
		if c.Server == nil || !b.wants(c.Name) {
			continue
		}
		b.Progress(c.Name + " on the other server")
		asked := &report.Asked{}
		var err error
		asked.P50, err = b.askTimes(ctx, other, c)
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

// askTimes asks a server questions of a case and returns the median of the times; 0 if the
// records lack the words for any.
func (b *bench) askTimes(ctx context.Context, other origin.Source, c Case) (time.Duration, error) {
	var all []time.Duration
	began := time.Now()
	for n := 0; n < serverTimes && (n < serverLeast || time.Since(began) < serverTime); n++ {
		of, ok := b.words.question(c, b.dice)
		if !ok {
			continue
		}
		q, err := c.query(of)
		if err != nil {
			return 0, err
		}
		took, err := timeOf(other.Find(ctx, copied+cmp.Or(c.Server.Collection, collectionActivities), q))
		if err != nil {
			return 0, err
		}
		all = append(all, took)
	}
	return report.MedianOf(all), nil
}

// timeOf is the time that documents take to be read to their end.
func timeOf(docs iter.Seq2[bson.Raw, error]) (time.Duration, error) {
	began := time.Now()
	for _, err := range docs {
		if err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}
