package view

import (
	"context"
	"iter"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view/index"
	"vitrine/rules/filter"
	"vitrine/rules/raw"
)

// Selection is the rows of a snapshot that a filter selects. It is immutable.
type Selection interface {
	// Count returns the number of rows.
	Count() int
	// Rows yields up to limit rows after skipping offset; a limit of 0 or less means
	// all. They come in the view's order, or in that of By. The error is that of the
	// context or the store, MovedError among them, and ends the rows.
	Rows(ctx context.Context, offset, limit int) iter.Seq2[index.Row, error]
	// Group counts the rows by a field's value, as index.Subset.Group does.
	Group(ctx context.Context, field, unwind string) ([]index.Group, error)
	// Search returns the rows that have all words, as index.Subset.Search does.
	Search(ctx context.Context, terms []string) (Selection, error)
	// Narrow returns the rows that a filter selects, too.
	Narrow(ctx context.Context, f *filter.Filter) (Selection, error)
	// Facet counts the rows by the values at a path, as index.Subset.Facet does. Of a view in
	// the store a Sample may have the path's top-level field alone.
	Facet(ctx context.Context, path string) ([]index.Group, error)
	// By returns the selection in an order, ties by _id; nil is the view's own order.
	By(order raw.Sort) Selection
	// ByRelevance returns the selection of Search with the rows first that have the most
	// terms in their titles; ties are in the view's order.
	ByRelevance() Selection
	// Only returns the selection for a caller who reads only a few top-level fields and
	// _id of its rows: of a view in the store no others are read.
	Only(fields ...string) Selection
	// Prepared returns the fragments of that name as index.Subset.Runs does, after bulky ones
	// are prepared; nil if the rows are in the store, or there is no room for them.
	Prepared(ctx context.Context, fragment string) (iter.Seq[[]byte], error)
}

// memory is the rows of a snapshot in memory.
type memory struct{ *index.Table }

// Select implements rows.
func (m memory) Select(ctx context.Context, f *filter.Filter) (Selection, error) {
	return inMemory(m.Table.Select(ctx, f))
}

// First implements rows.
func (m memory) First(ctx context.Context, f *filter.Filter) (bson.Raw, error) {
	selected, err := m.Select(ctx, f)
	if err != nil {
		return nil, err
	}
	return first(ctx, selected)
}

// first returns the first row of a selection, nil if there is none.
func first(ctx context.Context, selected Selection) (bson.Raw, error) {
	for row, err := range selected.Rows(ctx, 0, 1) {
		if err != nil {
			return nil, err
		}
		return row.Doc(), nil
	}
	return nil, nil
}

// inMemory returns a subset of rows as a Selection.
func inMemory(rows *index.Subset, err error) (Selection, error) {
	if err != nil {
		return nil, err
	}
	return resident{rows}, nil
}

// resident is a selection of rows in memory. As a single pointer it becomes a Selection without
// an allocation.
type resident struct{ *index.Subset }

func (r resident) Search(ctx context.Context, terms []string) (Selection, error) {
	return inMemory(r.Subset.Search(ctx, terms))
}

func (r resident) Narrow(ctx context.Context, f *filter.Filter) (Selection, error) {
	return inMemory(r.Subset.Narrow(ctx, f))
}

func (r resident) By(order raw.Sort) Selection { return resident{r.Subset.By(order)} }

func (r resident) ByRelevance() Selection { return resident{r.Subset.ByRelevance()} }

func (r resident) Only(...string) Selection { return r }

func (r resident) Prepared(ctx context.Context, fragment string) (iter.Seq[[]byte], error) {
	if fits, err := r.Table().Prepare(ctx, fragment); !fits || err != nil {
		return nil, err
	}
	return r.Runs(fragment), nil
}
