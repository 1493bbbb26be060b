package view

import (
	"context"
	"iter"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/view/index"
	"vitrine/rules/filter"
	"vitrine/rules/raw"
)

// Snapshot is a view at one generation, in memory or where it is stored. It is
// immutable and shared: callers must not change what it returns.
type Snapshot struct {
	meta   origin.Meta
	loaded time.Time
	memory *index.Snapshot // nil: the rows stay in the store
	stored *storedRows     // nil: they are in memory
	whole  *storedRows     // the rows before they were stripped; nil: they are as they were
}

// Selection is the rows of a snapshot that a filter selects. It is immutable.
type Selection interface {
	// Count returns the number of rows.
	Count() int
	// Rows yields up to limit rows after skipping offset; a limit of 0 or less means
	// all. They come in the view's order, or in that of By. A row of a view in the
	// store keeps those around it: callers should not hold it for long. The error is
	// that of the store, *MovedError among them, and ends the rows.
	Rows(ctx context.Context, offset, limit int) iter.Seq2[index.Row, error]
	// Group counts the rows by a field's value, as index.Selection.Group does.
	Group(ctx context.Context, field, unwind string) ([]index.Group, error)
	// Search returns the rows that have all words, which fold.Terms made, the last one as the
	// beginning of a word; an empty word counts as found. The view's Definition must have Words.
	Search(ctx context.Context, terms []string) (Selection, error)
	// Narrow returns the rows that a filter selects, too.
	Narrow(ctx context.Context, f *filter.Filter) (Selection, error)
	// Facet counts the rows by the values at a path, as index.Selection.Facet does. Of a view
	// in the store a Sample may have the path's top-level field alone.
	Facet(ctx context.Context, path string) ([]index.FacetValue, error)
	// By returns the selection in an order, ties by _id; nil is the view's own order.
	By(order raw.Sort) Selection
	// ByRelevance returns the selection of Search with the rows first that have the most
	// terms in their titles; ties are in the view's order.
	ByRelevance() Selection
	// Only returns the selection for a caller who reads only a few top-level fields and
	// _id of its rows: of a view in the store no others are read.
	Only(fields ...string) Selection
	// Prepared returns the fragments of that name as index.Selection.Runs does, or
	// false if the rows are in the store, which prepares none.
	Prepared(fragment string) (runs iter.Seq[index.Run], ok bool)
}

// Meta returns the view's meta at this generation.
func (s *Snapshot) Meta() origin.Meta { return s.meta }

// Loaded returns when this snapshot was made.
func (s *Snapshot) Loaded() time.Time { return s.loaded }

// Whole returns the snapshot with all fields of its rows. If rows lack some, they are read
// from the store; a store that answers no queries gives no more than the snapshot has.
func (s *Snapshot) Whole() *Snapshot {
	if s.whole == nil || s.whole.queries == nil {
		return s
	}
	return &Snapshot{meta: s.meta, loaded: s.loaded, stored: s.whole}
}

// Len returns the number of rows.
func (s *Snapshot) Len() int {
	if s.memory == nil {
		return s.meta.Rows
	}
	return s.memory.Len()
}

// Resident returns the rows in memory, or false if they stay in the store.
func (s *Snapshot) Resident() (*index.Snapshot, bool) { return s.memory, s.memory != nil }

// missing counts the rows of the generation that the store left out.
func (s *Snapshot) missing() int { return max(s.meta.Rows-s.Len(), 0) }

// segments returns the number of segments in memory.
func (s *Snapshot) segments() int {
	if s.memory == nil {
		return 0
	}
	return s.memory.Segments()
}

// Has reports whether a row has something at a path, or once had it. Where rows stay in
// the store they are not read for it, and the answer is yes.
func (s *Snapshot) Has(ctx context.Context, path raw.Path) (bool, error) {
	if s.memory == nil {
		return true, nil
	}
	return s.memory.Has(ctx, path)
}

// Select evaluates a filter. The error is the context's, or that of an expression
// that ran out of time (kind rules.ErrWrongCall).
func (s *Snapshot) Select(ctx context.Context, f *filter.Filter) (Selection, error) {
	if s.memory == nil {
		return s.stored.counted(ctx, f)
	}
	selected, err := s.memory.Select(ctx, f)
	if err != nil {
		return nil, err
	}
	return resident{selected}, nil
}

// First returns the first row that a filter selects, nil if there is none.
func (s *Snapshot) First(ctx context.Context, f *filter.Filter) (bson.Raw, error) {
	var selected Selection
	var err error
	if s.memory == nil {
		selected, err = s.stored.selection(ctx, f)
	} else {
		selected, err = s.Select(ctx, f)
	}
	if err != nil {
		return nil, err
	}
	for row, err := range selected.Rows(ctx, 0, 1) {
		if err != nil {
			return nil, err
		}
		return row.Doc(), nil
	}
	return nil, nil
}

// resident is a selection of rows in memory.
type resident struct{ *index.Selection }

// Rows implements Selection.
func (s resident) Rows(_ context.Context, offset, limit int) iter.Seq2[index.Row, error] {
	return func(yield func(index.Row, error) bool) {
		for row := range s.Selection.Rows(offset, limit) {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// Search implements Selection.
func (s resident) Search(ctx context.Context, terms []string) (Selection, error) {
	found, err := s.Selection.Search(ctx, terms)
	if err != nil {
		return nil, err
	}
	return resident{found}, nil
}

// Narrow implements Selection.
func (s resident) Narrow(ctx context.Context, f *filter.Filter) (Selection, error) {
	narrow, err := s.Selection.Narrow(ctx, f)
	if err != nil {
		return nil, err
	}
	return resident{narrow}, nil
}

// ByRelevance implements Selection.
func (s resident) ByRelevance() Selection { return resident{s.Selection.ByRelevance()} }

// By implements Selection.
func (s resident) By(order raw.Sort) Selection { return resident{s.Selection.By(order)} }

// Only implements Selection.
func (s resident) Only(...string) Selection { return s }

// Prepared implements Selection.
func (s resident) Prepared(fragment string) (iter.Seq[index.Run], bool) {
	return s.Runs(fragment), true
}
