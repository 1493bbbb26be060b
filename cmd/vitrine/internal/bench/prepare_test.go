package bench

import (
	"context"
	"errors"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
)

// batches notes how many documents it is given at once.
type batches struct {
	origin.Store
	sizes []int
	err   error
}

func (b *batches) Upsert(_ context.Context, _ string, docs []bson.Raw) (origin.Upserted, error) {
	b.sizes = append(b.sizes, len(docs))
	return origin.Upserted{}, b.err
}

func TestStoreAll(t *testing.T) {
	failed := errors.New("full")
	for count, want := range map[int][]int{0: {0}, 7: {7}, fillBatch: {fillBatch, 0}, fillBatch + 1: {fillBatch, 1}} {
		docs := func(yield func(bson.Raw, error) bool) {
			for range count {
				if !yield(bson.Raw{5, 0, 0, 0, 0}, nil) {
					return
				}
			}
		}
		into := &batches{}
		if err := StoreAll(t.Context(), into, "x", docs); err != nil || !slices.Equal(into.sizes, want) {
			t.Errorf("%d documents: stored %v at once, want %v, %v", count, into.sizes, want, err)
		}
		if err := StoreAll(t.Context(), &batches{err: failed}, "x", docs); !errors.Is(err, failed) {
			t.Errorf("%d documents: %v, want %v", count, err, failed)
		}
	}
	broken := func(yield func(bson.Raw, error) bool) { yield(nil, failed) }
	if err := StoreAll(t.Context(), &batches{}, "x", broken); !errors.Is(err, failed) {
		t.Errorf("documents that cannot be read: %v", err)
	}
}

func TestMemoryOfARun(t *testing.T) {
	b := &bench{}
	b.Cases = []string{"list"}
	if err := b.memory(&b.run.Ready); err != nil || b.run.Ready != (Memory{}) {
		t.Errorf("memory was measured, though it is not chosen: %v", err)
	}
}
