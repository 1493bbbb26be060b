package mongo

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
)

// EnsureIndex creates an index on the keys of a source collection's documents,
// unless there is one. Nothing that serves calls it: source collections are their
// owner's. It is for copies made to compare with.
func (s *Store) EnsureIndex(ctx context.Context, collection string, keys bson.D) error {
	if _, err := s.source.Collection(collection).Indexes().CreateOne(ctx, driver.IndexModel{Keys: keys}); err != nil {
		return fmt.Errorf("index of %s: %w", collection, storeError(err))
	}
	return nil
}
