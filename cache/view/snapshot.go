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
	rows
	meta   origin.Meta
	loaded time.Time
	whole  *storedRows // the rows before they were stripped; nil: they are as they were
}

// rows are in memory (memory) or in the store (storedRows), stripped or whole.
type rows interface {
	// Len returns the number of rows.
	Len() int
	// Has reports whether a row has something at a path, or once had it. Rows in the store
	// are not read for it, and the answer is yes.
	Has(ctx context.Context, path raw.Path) (bool, error)
	// Select evaluates a filter. The error is the context's, or that of an expression
	// that ran out of time (kind rules.ErrWrongCall).
	Select(ctx context.Context, f *filter.Filter) (Selection, error)
	// First returns the first row that a filter selects, nil if there is none.
	First(ctx context.Context, f *filter.Filter) (bson.Raw, error)
}

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
	return &Snapshot{rows: s.whole, meta: s.meta, loaded: s.loaded}
}

// Resident returns the rows in memory, or false if they stay in the store.
func (s *Snapshot) Resident() (*index.Table, bool) {
	m, ok := s.rows.(memory)
	return m.Table, ok
}

// missing counts the rows of the generation that the store left out.
func (s *Snapshot) missing() int { return max(s.meta.Rows-s.Len(), 0) }
