package bench

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/proxy/bench/load"
	"vitrine/rules"
)

const (
	// copied is the collection that another server's activities are put in.
	copied = "vitrine_bench_activities"
	// A store is asked the question of a case this often, or until it has taken so long.
	storeTimes = 25
	storeTime  = 4 * time.Second
	storeLeast = 3
	// copyBatch is within what every server takes in one command.
	copyBatch = 90
)

// indexedPaths are those that the other server gets indexes on.
var indexedPaths = []string{"type", "year", "authors.user"}

// indexer is implemented by stores that can be told to index a path.
type indexer interface {
	// EnsureIndex creates an ascending index on a path of a source collection,
	// unless there is one.
	EnsureIndex(ctx context.Context, collection, path string) error
}

// embedded reports whether the store that is served is the embedded one.
func (b *bench) embedded() bool { return strings.HasPrefix(b.uri, "bolt://") }

// askStore asks a store the questions of the chosen cases. Activities are in the
// given collection, unless it is empty.
func (b *bench) askStore(ctx context.Context, kind string, store origin.Source, activities string) error {
	if b.asked == nil {
		b.asked = map[string][]Asked{}
	}
	cases, _ := b.words.cases()
	for _, c := range cases {
		if c.Query == nil || !b.wanted.has(c.Name) || activities != "" && c.Collection != "" {
			continue
		}
		b.Progress(fmt.Sprintf("%s on %s", c.Name, kind))
		asked, err := askTimes(ctx, store, c, activities)
		if errors.Is(err, origin.ErrUnsupported) || errors.Is(err, rules.ErrWrongCall) {
			asked.Error, err = err.Error(), nil // it knows less of the query language
		}
		if err != nil {
			return fmt.Errorf("case %s: %w", c.Name, err)
		}
		asked.Store = kind
		b.asked[c.Name] = append(b.asked[c.Name], asked)
	}
	return nil
}

// askTimes asks a store the question of a case, several times, each time in other
// words where there are any, and reads the answers to their end.
func askTimes(ctx context.Context, store origin.Source, c Case, activities string) (Asked, error) {
	collection := collectionActivities
	if c.Collection != "" {
		collection = c.Collection
	} else if activities != "" {
		collection = activities
	}
	var took []time.Duration
	began := time.Now()
	for n := 0; n < storeTimes && (n < storeLeast || time.Since(began) < storeTime); n++ {
		q, err := c.Query(n * 7919 % c.Supply)
		if err != nil {
			return Asked{}, err
		}
		asked := time.Now()
		for _, err := range store.Find(ctx, collection, q) {
			if err != nil {
				return Asked{}, err
			}
		}
		took = append(took, time.Since(asked))
	}
	return Asked{P50: load.Median(took), Times: len(took)}, nil
}

// askOther copies the activities to another server and asks it the same questions.
func (b *bench) askOther(ctx context.Context) (err error) {
	if b.Against == "" {
		return nil
	}
	other, err := b.Program.Open(ctx, b.Against)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, other.Close()) }()
	b.run.Against = other.Name()
	b.Progress("copying the activities to " + other.Name())
	if err := b.copyTo(ctx, other); err != nil {
		return err
	}
	b.index(ctx, other)
	return b.askStore(ctx, "against", other, copied)
}

// copyTo makes the other server's collection equal to the store's activities.
func (b *bench) copyTo(ctx context.Context, other origin.Store) (err error) {
	store, err := b.Program.Open(ctx, b.uri)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	have, err := ids(ctx, other, copied)
	if err != nil {
		return err
	}
	var batch []bson.Raw
	wanted := map[string]struct{}{}
	for record, err := range store.Scan(ctx, collectionActivities) {
		if err != nil {
			return err
		}
		id := idOf(record)
		wanted[id] = struct{}{}
		if _, ok := have[id]; ok {
			continue
		}
		if batch = append(batch, record); len(batch) == copyBatch {
			if _, err := other.Upsert(ctx, copied, batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
	if _, err := other.Upsert(ctx, copied, batch); err != nil {
		return err
	}
	_, err = other.Retain(ctx, copied, func(id bson.RawValue) bool { _, ok := wanted[keyOf(id)]; return ok })
	return err
}

// index creates the indexes, where the server takes them.
func (b *bench) index(ctx context.Context, other origin.Store) {
	ix, ok := other.(indexer)
	if !ok {
		b.note("the other server's collection has no indexes beside the one on _id, unless somebody created them")
		return
	}
	for _, path := range indexedPaths {
		if err := ix.EnsureIndex(ctx, copied, path); err != nil {
			b.note("the other server takes no index on %s: %v", path, err)
			continue
		}
		b.run.Indexed = append(b.run.Indexed, path)
	}
}

// ids lists the ids of a collection.
func ids(ctx context.Context, store origin.Source, collection string) (map[string]struct{}, error) {
	all := map[string]struct{}{}
	for record, err := range store.Find(ctx, collection, origin.Query{Projection: []string{"_id"}}) {
		if err != nil {
			return nil, err
		}
		all[idOf(record)] = struct{}{}
	}
	return all, nil
}

func idOf(record bson.Raw) string { return keyOf(record.Lookup("_id")) }

// keyOf makes an id usable as a map's key.
func keyOf(id bson.RawValue) string { return string(append([]byte{byte(id.Type)}, id.Value...)) }
