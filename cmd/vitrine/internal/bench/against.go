package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/rules/raw"
)

// inserter is implemented by stores that take new documents faster than others.
type inserter interface {
	// Insert stores documents that the collection does not have.
	Insert(ctx context.Context, collection string, docs []bson.Raw) error
}

// insert stores new documents.
func insert(ctx context.Context, store origin.Store, collection string, docs []bson.Raw) error {
	if i, ok := store.(inserter); ok {
		return i.Insert(ctx, collection, docs)
	}
	_, err := store.Upsert(ctx, collection, docs)
	return err
}

// indexer is implemented by stores that can be told to index a path.
type indexer interface {
	// EnsureIndex creates an index on the keys of a collection's documents, unless
	// there is one.
	EnsureIndex(ctx context.Context, collection string, keys bson.D) error
}

// others are the indexes that another server's copies get beside the one on _id: those
// that the cases' filters and orders can be answered by.
var others = []struct {
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
	other, err := b.Program.Open(ctx, b.Against)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, other.Close()) }()
	b.run.Against = other.Name()
	a := asking{kind: "against", store: other, collections: map[string]string{}}
	for _, name := range []string{collectionActivities, collectionPersons, collectionProjects} {
		a.collections[name] = copied + name
		b.Progress(fmt.Sprintf("copying %s to %s", name, other.Name()))
		if err := b.copyTo(ctx, other, name); err != nil {
			return err
		}
	}
	if a.indexed, err = b.index(ctx, other); err != nil {
		return err
	}
	b.run.Indexed = a.indexed
	return b.askStore(ctx, a)
}

// copyTo makes the other server's copy of a collection equal to the store's.
func (b *bench) copyTo(ctx context.Context, other origin.Store, collection string) (err error) {
	store, err := b.Program.Open(ctx, b.uri)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	have, err := ids(ctx, other, copied+collection)
	if err != nil {
		return err
	}
	var batch []bson.Raw
	wanted := map[string]struct{}{}
	for record, err := range store.Scan(ctx, collection) {
		if err != nil {
			return err
		}
		id := idOf(record)
		wanted[id] = struct{}{}
		if _, ok := have[id]; ok {
			continue
		}
		if batch = append(batch, record); len(batch) == copyBatch {
			if err := insert(ctx, other, copied+collection, batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
	if err := insert(ctx, other, copied+collection, batch); err != nil {
		return err
	}
	_, err = other.Retain(ctx, copied+collection, func(id bson.RawValue) bool { _, ok := wanted[raw.Key(id)]; return ok })
	return err
}

// index creates the indexes and returns the paths by which the server answers: some
// servers take an index and scan nevertheless.
func (b *bench) index(ctx context.Context, other origin.Store) ([]string, error) {
	indexed := []string{"_id"}
	ix, ok := other.(indexer)
	if !ok {
		return indexed, nil
	}
	for _, o := range others {
		path := o.keys[0].Key
		if err := ix.EnsureIndex(ctx, copied+o.collection, o.keys); err != nil {
			b.note("the other server takes no index on %s: %v", path, err)
			continue
		}
		b.Progress("is the index on " + path + " used?")
		used, err := indexUsed(ctx, other, copied+o.collection, path)
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

// indexUsed reports whether a value that no document has is missed on the path in
// much less time than on one that no document has and no index can be on.
func indexUsed(ctx context.Context, store origin.Source, collection, path string) (bool, error) {
	took := func(path string) (time.Duration, error) {
		q := origin.Query{Filter: document(bson.D{{Key: path, Value: "vitrine bench: nobody has this"}}), Limit: 1}
		began := time.Now()
		for _, err := range store.Find(ctx, collection, q) {
			if err != nil {
				return 0, err
			}
		}
		return time.Since(began), nil
	}
	scan, err := took("vitrine_bench_nothing")
	if err != nil {
		return false, err
	}
	look, err := took(path)
	return look < scan/4, err
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

func idOf(record bson.Raw) string { return raw.Key(record.Lookup("_id")) }
