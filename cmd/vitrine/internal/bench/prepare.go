package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"golang.org/x/sync/errgroup"

	"vitrine/cache/origin"
	"vitrine/cmd/vitrine/internal/bench/multiply"
	"vitrine/cmd/vitrine/internal/bench/usage"
)

// scanMost is how many activities the embedded store is asked to look through.
const scanMost = 200_000

// fillBatch is how many activities are made and stored at once.
const fillBatch = 4000

// prepare makes the store, reads the vocabulary from it, and asks it the questions
// of the cases: an embedded store belongs to the serving process afterwards.
func (b *bench) prepare(ctx context.Context) (err error) {
	b.uri = b.Program.Store
	made := true
	if b.Program.Seed != nil {
		b.uri = "bolt://" + b.file()
		_, err := os.Stat(b.file())
		made = err == nil
	}
	store, err := b.Program.Open(ctx, b.uri)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if b.run.Store = store.Name(); b.Program.Seed != nil {
		b.run.Store = "bolt://" + filepath.Base(b.file()) // wherever it lies
	}
	if !made {
		if err := b.fill(ctx, store); err != nil {
			return errors.Join(err, os.Remove(b.file())) // half a store must not be taken for a whole one
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
	switch {
	case !b.embedded():
		return b.askStore(ctx, asking{kind: "source", store: store})
	case b.words.rows > scanMost:
		b.note("the embedded store was not asked: to sort what it finds among so many records takes minutes a question")
		return nil
	default:
		return b.askStore(ctx, asking{kind: "scan", store: store, indexed: []string{"_id"}})
	}
}

// fill makes the institute, multiplies its activities, and builds the views.
func (b *bench) fill(ctx context.Context, store origin.Store) error {
	b.Progress(fmt.Sprintf("filling %s", store.Name()))
	watch := usage.NewWatch(os.Getpid())
	defer watch.End()
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
	b.run.Build, b.run.BuildMost = time.Since(began), watch.End()
	return nil
}

// grow makes a store's activities so many: it adds variations of them, or takes
// some away.
func grow(ctx context.Context, store origin.Store, size int) error {
	own, err := records(ctx, store, collectionActivities)
	if err != nil {
		return err
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
	return spread(ctx, m, m.Own(), size, func(batch []bson.Raw) error {
		_, err := store.Upsert(ctx, collectionActivities, batch)
		return err
	})
}

// spread makes the activities from one number up to another, on all processors, and
// hands them on in batches, in their order.
func spread(ctx context.Context, m *multiply.Multiplier, from, to int, store func([]bson.Raw) error) error {
	for ; from < to; from += fillBatch {
		batch := make([]bson.Raw, min(fillBatch, to-from))
		makers, parts := errgroup.Group{}, runtime.GOMAXPROCS(0)
		for part := range parts {
			makers.Go(func() (err error) {
				for i := part; i < len(batch) && err == nil; i += parts {
					batch[i], err = m.At(from + i)
				}
				return err
			})
		}
		if err := makers.Wait(); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := store(batch); err != nil {
			return err
		}
	}
	return nil
}

// records reads a whole collection.
func records(ctx context.Context, store origin.Source, collection string) (all []bson.Raw, err error) {
	for record, err := range store.Scan(ctx, collection) {
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", collection, err)
		}
		all = append(all, record)
	}
	return all, nil
}
