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

// Snapshot is a view at one generation, in memory or in the store. It is immutable and shared.
type Snapshot struct {
	rows
	meta   origin.Meta
	loaded time.Time
	whole  *storedRows // the rows with all fields; nil if no fields were stripped
}

// rows are in memory (memory) or in the store (storedRows), stripped or whole.
type rows interface {
	// Len returns the number of rows.
	Len() int
	// Has reports whether a row has something at a path, or had it once. For rows in the store it is true, without
	// reading.
	Has(ctx context.Context, path raw.Path) (bool, error)
	// Select evaluates a filter. The error is the context's, or rules.ErrWrongCall for an expression out of time.
	Select(ctx context.Context, f *filter.Filter) (Selection, error)
	// First returns the first row that a filter selects, or nil.
	First(ctx context.Context, f *filter.Filter) (bson.Raw, error)
}

// Meta returns the view's meta at this generation.
func (s *Snapshot) Meta() origin.Meta { return s.meta }

// Loaded returns when this snapshot was made.
func (s *Snapshot) Loaded() time.Time { return s.loaded }

// Whole returns the snapshot with all fields of its rows, read from the store if any were stripped. If the store does
// not answer queries, it returns the snapshot itself.
func (s *Snapshot) Whole() *Snapshot {
	if s.whole == nil || s.whole.queries == nil {
		return s
	}
	return &Snapshot{rows: s.whole, meta: s.meta, loaded: s.loaded}
}

// Resident returns the rows in memory, or false if they are in the store.
func (s *Snapshot) Resident() (*index.Table, bool) {
	m, ok := s.rows.(memory)
	return m.Table, ok
}

func (s *Snapshot) missing() int { return max(s.meta.Rows-s.Len(), 0) }
