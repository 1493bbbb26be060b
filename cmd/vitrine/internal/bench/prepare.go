package bench

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/rules/parallel"
)

// fillBatch is how many records are stored at once.
const fillBatch = 4000

// prepare makes the store, unless an earlier measurement has, and reads the vocabulary from it: the
// store belongs to the serving process afterwards.
func (b *bench) prepare(ctx context.Context) (err error) {
	// Its records change while it is measured: an operator would not give it such a name.
	file := filepath.Join(b.Dir, fmt.Sprintf("bench-%d.db", b.size))
	b.uri = "bolt://" + file
	_, missing := os.Stat(file)
	store, err := b.Open(ctx, b.uri)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if missing != nil {
		if err := b.fill(ctx, store); err != nil {
			return errors.Join(err, os.Remove(file)) // half a store must not be taken for a whole one
		}
	}
	b.Progress("reading words from " + store.Name())
	if b.words, err = collect(ctx, store, b.size); err != nil {
		return err
	}
	b.run.Rows, b.run.BSON = b.words.rows, b.words.bytes
	if b.words.rows == 0 {
		return fmt.Errorf("%s has no activities", store.Name())
	}
	began := time.Now()
	for _, err := range store.Scan(ctx, collectionActivities) {
		if err != nil {
			return err
		}
	}
	b.run.Scan = time.Since(began)
	return ctx.Err()
}

// fill makes the institute, multiplies its activities, and builds the views.
func (b *bench) fill(ctx context.Context, store origin.Store) error {
	b.Progress("filling " + store.Name())
	if err := b.Seed(ctx, store); err != nil {
		return err
	}
	if b.size > 0 {
		if err := grow(ctx, store, b.size); err != nil {
			return err
		}
	}
	b.Progress("building the views")
	began := time.Now()
	err := b.Build(ctx, store)
	b.run.Build = time.Since(began)
	return err
}

// grow gives a store that number of activities: it adds variations, or removes some.
func grow(ctx context.Context, store origin.Store, size int) error {
	var own []bson.Raw
	for record, err := range store.Scan(ctx, collectionActivities) {
		if err != nil {
			return fmt.Errorf("read %s: %w", collectionActivities, err)
		}
		own = append(own, record)
	}
	if len(own) == 0 || len(own) > size {
		kept := 0
		_, err := store.Retain(ctx, collectionActivities, func(bson.RawValue) bool { kept++; return kept <= size })
		return err
	}
	further := func(yield func(int, error) bool) {
		for i := len(own); i < size && yield(i, nil); i++ {
		}
	}
	made := parallel.Map(further, 2*runtime.GOMAXPROCS(0), newMultiplier(own).at)
	return StoreAll(ctx, store, collectionActivities, made)
}

// StoreAll stores documents, many at once.
func StoreAll(ctx context.Context, store origin.Store, collection string, docs iter.Seq2[bson.Raw, error]) error {
	var batch []bson.Raw
	for doc, err := range docs {
		if err != nil {
			return err
		}
		if batch = append(batch, doc); len(batch) == fillBatch {
			if _, err := store.Upsert(ctx, collection, batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
	_, err := store.Upsert(ctx, collection, batch)
	return err
}
