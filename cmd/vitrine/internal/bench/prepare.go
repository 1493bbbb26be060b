package bench

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cmd/vitrine/internal/bench/multiply"
)

// fillBatch is how many activities are made and stored at once.
const fillBatch = 4000

// prepare makes the store, unless an earlier measurement has, and reads the vocabulary from it:
// the store belongs to the serving process afterwards.
func (b *bench) prepare(ctx context.Context) (err error) {
	file := b.file()
	b.uri, b.run.Store = "bolt://"+file, "bolt://"+filepath.Base(file) // the same on every machine
	_, missing := os.Stat(file)
	store, err := b.Program.Open(ctx, b.uri)
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
	b.scan = time.Since(began)
	return ctx.Err()
}

// file is where the store of a size lies. Its records are changed while it is measured:
// its name must not be one that an operator would give to a store.
func (b *bench) file() string {
	name := "bench.db"
	if b.size > 0 {
		name = fmt.Sprintf("bench-%d.db", b.size)
	}
	return filepath.Join(b.Dir, name)
}

// fill makes the institute, multiplies its activities, and builds the views.
func (b *bench) fill(ctx context.Context, store origin.Store) error {
	b.Progress("filling " + store.Name())
	began := time.Now()
	if err := b.Program.Seed(ctx, store); err != nil {
		return err
	}
	if b.size > 0 {
		if err := grow(ctx, store, b.size); err != nil {
			return err
		}
	}
	b.run.Fill = time.Since(began)
	b.Progress("building the views")
	began = time.Now()
	if err := b.Program.Build(ctx, store); err != nil {
		return err
	}
	b.run.Build = time.Since(began)
	return nil
}

// grow gives a store that number of activities: it adds variations of them, or removes
// some.
func grow(ctx context.Context, store origin.Store, size int) error {
	var own []bson.Raw
	for record, err := range store.Scan(ctx, collectionActivities) {
		if err != nil {
			return fmt.Errorf("read %s: %w", collectionActivities, err)
		}
		own = append(own, record)
	}
	if len(own) > size {
		kept := 0
		_, err := store.Retain(ctx, collectionActivities, func(bson.RawValue) bool { kept++; return kept <= size })
		return err
	}
	m, err := multiply.New(own)
	if err != nil {
		return err
	}
	return Batches(m.Between(len(own), size), fillBatch, func(docs []bson.Raw) error {
		_, err := store.Upsert(ctx, collectionActivities, docs)
		return err
	})
}

// Batches hands documents on in batches of a size.
func Batches(docs iter.Seq2[bson.Raw, error], size int, store func([]bson.Raw) error) error {
	var batch []bson.Raw
	for doc, err := range docs {
		if err != nil {
			return err
		}
		if batch = append(batch, doc); len(batch) == size {
			if err := store(batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
	return store(batch)
}
