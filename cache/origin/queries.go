package origin

import (
	"context"
	"iter"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// Queries runs queries on views in the store, for readers that do not hold them in
// memory. Every method takes the generation of the view from its Meta, and answers from
// exactly that generation or fails with ErrStale: the view was published again, and the
// caller should start over with the new Meta. If a generation is published but not yet
// settled, the method waits for it.
type Queries interface {
	// Select yields the rows that answer a query, in its order, ties by _id. It holds
	// no more than a batch of rows, except that a store without an index for the
	// order may hold the sort keys of all rows before the query's end. After an error
	// nothing follows; ErrStale may come after rows, which then are to be discarded.
	Select(ctx context.Context, at Meta, q Query) iter.Seq2[bson.Raw, error]
	// Count returns the number of rows that a filter matches; nil matches all.
	Count(ctx context.Context, at Meta, filter bson.Raw) (int, error)
	// Settled reports whether queries need not wait.
	Settled(ctx context.Context, at Meta) (bool, error)
}

// Indexer makes indexes for queries on views.
type Indexer interface {
	// Index makes sure that a view has an index for each of the given orders, if the store
	// has indexes. What is there already costs nothing.
	Index(ctx context.Context, view string, orders []raw.Sort) error
}
