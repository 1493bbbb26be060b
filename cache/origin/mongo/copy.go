package mongo

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// The server never calls the functions of this file: it only reads source collections.
// They write copies for comparisons.

// Insert stores documents that the collection does not have. It spares the server
// the look-up that Upsert needs for each, which some servers do by scanning.
func (s *Store) Insert(ctx context.Context, collection string, docs []bson.Raw) error {
	if len(docs) == 0 {
		return nil
	}
	if err := s.records(collection).insertMany(ctx, docs); err != nil {
		return fmt.Errorf("insert into %s: %w", collection, storeError(err))
	}
	return nil
}

// EnsureIndex creates an index on the keys of a source collection's documents,
// unless there is one.
func (s *Store) EnsureIndex(ctx context.Context, collection string, keys bson.D) error {
	if err := s.records(collection).index(ctx, keys); err != nil {
		return fmt.Errorf("index of %s: %w", collection, storeError(err))
	}
	return nil
}
