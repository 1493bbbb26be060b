package view

import (
	"context"
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
type Selection = index.Selection

// Meta returns the view's meta at this generation.
func (s *Snapshot) Meta() origin.Meta { return s.meta }

// Loaded returns when this snapshot was made.
func (s *Snapshot) Loaded() time.Time { return s.loaded }

// Whole returns the snapshot with all fields of its rows. If rows lack some, they are read
// from the store; a store that answers no queries gives no more than the snapshot has.
func (s *Snapshot) Whole() *Snapshot {
	if s.whole == nil || s.whole.view.set.queries == nil {
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
	return selected, nil
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
