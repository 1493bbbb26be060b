package circuit

import (
	"context"
	"iter"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
)

// Select implements origin.Queries.
func (s *Store) Select(ctx context.Context, at origin.Meta, q origin.Query) iter.Seq2[bson.Raw, error] {
	return s.each(ctx, func(ctx context.Context) iter.Seq2[bson.Raw, error] { return s.inner.Select(ctx, at, q) })
}

// Count implements origin.Queries.
func (s *Store) Count(ctx context.Context, at origin.Meta, filter bson.Raw) (n int, err error) {
	err = s.do(ctx, func(ctx context.Context) (err error) {
		n, err = s.inner.Count(ctx, at, filter)
		return err
	})
	return n, err
}

// Settled implements origin.Queries.
func (s *Store) Settled(ctx context.Context, at origin.Meta) (settled bool, err error) {
	err = s.do(ctx, func(ctx context.Context) (err error) {
		settled, err = s.inner.Settled(ctx, at)
		return err
	})
	return settled, err
}

// Index implements origin.Indexer; a store that wants no indexes has nothing to do.
func (s *Store) Index(ctx context.Context, view string, keys []bson.D) error {
	x, ok := s.inner.(origin.Indexer)
	if !ok {
		return nil
	}
	return s.do(ctx, func(ctx context.Context) error { return x.Index(ctx, view, keys) })
}
