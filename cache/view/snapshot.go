package view

import (
	"context"
	"iter"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/view/index"
	"vitrine/cache/view/mapped"
	"vitrine/rules/filter"
	"vitrine/rules/raw"
)

// Snapshot is a view at one generation, in memory or in the store. It is immutable and shared: callers must not
// change what it returns.
type Snapshot struct {
	rows
	meta   origin.Meta
	loaded time.Time
	whole  *storedRows   // the rows with all fields; nil if no fields were stripped
	files  *mapped.Files // in which the rows may lie; nil if they do not
	// edition is the epoch, and how often the rows were read again because their files were altered or could not be
	// read.
	edition string
}

// rows are in memory (memory) or in the store (storedRows), stripped or whole. A filter gives the same rows in the
// same order everywhere (TestWhereRowsAreMakesNoDifference).
type rows interface {
	// Len returns the number of rows.
	Len() int
	// Has reports whether a row has something at a path, or had it once. It is true for rows in the store.
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

// Whole returns the snapshot with all fields of its rows, read from the store if any were stripped.
func (s *Snapshot) Whole() *Snapshot {
	if s.whole == nil {
		return s
	}
	return &Snapshot{rows: s.whole, meta: s.meta, loaded: s.loaded, edition: s.edition}
}

// Edition tells snapshots of the same generation apart, of which one was altered in its files. It begins with the
// epoch.
func (s *Snapshot) Edition() string { return s.edition }

// Resident returns the rows in memory, or false if they are in the store.
func (s *Snapshot) Resident() (*index.Table, bool) {
	m, ok := s.rows.(memory)
	return m.Table, ok
}

// Search selects rows by a filter and by the terms of each search. count is their number if the caller knows it: then
// a view in the store is not asked to count them. Otherwise it is Uncounted.
func (s *Snapshot) Search(
	ctx context.Context, f *filter.Filter, count int, searches ...[]string,
) (selected Selection, err error) {
	if rows, ok := s.rows.(*storedRows); ok {
		return rows.search(ctx, f, searches, count)
	}
	selected, err = s.Select(ctx, f)
	for i := 0; i < len(searches) && err == nil; i++ {
		if len(searches[i]) > 0 {
			selected, err = selected.Search(ctx, searches[i])
		}
	}
	return selected, err
}

// SelectUncounted is Search for callers that do not need Count.
func (s *Snapshot) SelectUncounted(ctx context.Context, f *filter.Filter, searches ...[]string) (Selection, error) {
	return s.Search(ctx, f, s.Len(), searches...)
}

// missing returns how many rows the meta counts and the snapshot lacks, since Set.Force has accepted their loss.
func (s *Snapshot) missing() int { return max(s.meta.Rows-s.Len(), 0) }

// stored returns the rows that the snapshot, or its Whole, reads from the store, or nil.
func (s *Snapshot) stored() *storedRows {
	if rows, ok := s.rows.(*storedRows); ok {
		return rows
	}
	return s.whole
}

// incomplete returns rules.ErrUnavailable if rows of the snapshot are missing in the store.
func (s *Snapshot) incomplete() error {
	if rows, ok := s.rows.(*storedRows); ok {
		return rows.loss.err()
	}
	return nil
}

// CheckAnswer returns rules.ErrUnavailable if rows of the snapshot are missing in the store, and may have been
// missing when an answer was made: since then no check has found all rows. For an answer that is yet to be made, the
// time is zero.
func (s *Snapshot) CheckAnswer(made time.Time) error {
	err := s.incomplete()
	if err != nil && !made.IsZero() && int64(made.Sub(processStart)) <= s.stored().loss.complete.Load() {
		return nil
	}
	return err
}

// Selection has the rows of a snapshot that a filter selects. It is immutable.
type Selection interface {
	// Count returns the number of rows.
	Count() int
	// Rows yields up to limit rows after skipping offset; a limit of 0 or less means all. They come in the view's
	// order, or in the order of By. Rows looks at the context's turn before each row, and while it skips rows. The
	// error, which ends the rows, is the context's or the store's.
	Rows(ctx context.Context, offset, limit int) iter.Seq2[index.Row, error]
	// Group counts the rows by a field's value, as index.Subset.Group does.
	Group(ctx context.Context, field, unwind string) ([]index.Group, error)
	// Search returns the rows that have all terms, as index.Subset.Search does.
	Search(ctx context.Context, terms []string) (Selection, error)
	// Narrow returns the rows that also match another filter. count is their number, if known, or Uncounted.
	Narrow(ctx context.Context, f *filter.Filter, count int) (Selection, error)
	// Facets counts the rows of each facet as index.FacetsDocs does. The caller reads only the given fields of a
	// Sample; each is a path through documents, not arrays, and they include what the facets and their filters read.
	// For a view in the store, only those are read, by one query for all facets.
	Facets(ctx context.Context, asked []index.Facet, fields ...string) ([][]index.Group, error)
	// By returns the selection in an order, ties by _id; nil means the view's own order.
	By(order raw.Sort) Selection
	// ByRelevance sorts the selection of Search by how many terms rows have in their titles, ties in the view's
	// order.
	ByRelevance() Selection
	// Only returns the selection for a caller that needs, and a store that reads, only _id and these top-level
	// fields.
	Only(fields ...string) Selection
	// Prepared prepares the fragments with a name if they are bulky, and returns a function that yields them in the
	// view's order, or in the order of By. It returns nil if the rows are in the store, or there is no room.
	Prepared(ctx context.Context, fragment string) (Runs, error)
}

// Runs yields fragments in the context's turn, as index.Subset.Runs does.
type Runs = func(context.Context) iter.Seq2[[]byte, error]

// Uncounted stands for an unknown number of rows.
const Uncounted = -1

// memory has the rows of a snapshot in memory.
type memory struct {
	*index.Table
	store *storedRows // the same rows in the store, for filters that memory does not evaluate
}

// Select implements rows. Memory evaluates the filter but for the parts that only the database does.
func (m memory) Select(ctx context.Context, f *filter.Filter) (Selection, error) {
	return m.store.readThrough(f, func(f *filter.Filter) (Selection, error) {
		f, err := m.store.resolve(ctx, f)
		if err != nil {
			return nil, err
		}
		return inMemory(m.Table.Select(ctx, f))
	})
}

// First implements rows.
func (m memory) First(ctx context.Context, f *filter.Filter) (bson.Raw, error) {
	selected, err := m.Select(ctx, f)
	if err != nil {
		return nil, err
	}
	return first(ctx, selected)
}

// first returns the first row of a selection, or nil.
func first(ctx context.Context, selected Selection) (bson.Raw, error) {
	for row, err := range selected.Rows(ctx, 0, 1) {
		if err != nil {
			return nil, err
		}
		return row.Doc(), nil
	}
	return nil, nil
}

// inMemory makes a Selection of what a method of package index has returned.
func inMemory(rows *index.Subset, err error) (Selection, error) {
	if err != nil {
		return nil, err
	}
	return resident{rows}, nil
}

// resident is a selection in memory. As a single pointer it becomes a Selection without an allocation.
type resident struct{ *index.Subset }

// Search implements Selection.
func (r resident) Search(ctx context.Context, terms []string) (Selection, error) {
	return inMemory(r.Subset.Search(ctx, terms))
}

// Narrow implements Selection. It counts bits, so a known number saves nothing.
func (r resident) Narrow(ctx context.Context, f *filter.Filter, _ int) (Selection, error) {
	return inMemory(r.Subset.Narrow(ctx, f))
}

// Facets implements Selection. A single path is counted by its column, and combinations by the documents.
func (r resident) Facets(ctx context.Context, asked []index.Facet, _ ...string) ([][]index.Group, error) {
	all := make([][]index.Group, len(asked))
	for i, f := range asked {
		rows := r.Subset
		var err error
		if f.Under != nil {
			if rows, err = rows.Narrow(ctx, f.Under); err != nil {
				return nil, err
			}
		}
		if len(f.Paths) == 1 && !f.Rest {
			if all[i], err = rows.Facet(ctx, f.Paths[0]); err != nil {
				return nil, err
			}
			continue
		}
		found, err := index.FacetsDocs(ctx, documentsOf(ctx, rows), []index.Facet{{Paths: f.Paths, Rest: f.Rest}})
		if err != nil {
			return nil, err
		}
		all[i] = found[0]
	}
	return all, nil
}

// documentsOf passes on the documents of rows in memory, each of which stands for itself.
func documentsOf(ctx context.Context, rows *index.Subset) index.Docs {
	return func(add func(bson.Raw, int)) error {
		for row, err := range rows.Rows(ctx, 0, 0) {
			if err != nil {
				return err
			}
			add(row.Doc(), 1)
		}
		return nil
	}
}

// By implements Selection.
func (r resident) By(order raw.Sort) Selection { return resident{r.Subset.By(order)} }

// ByRelevance implements Selection.
func (r resident) ByRelevance() Selection { return resident{r.Subset.ByRelevance()} }

// Only returns the selection itself: the rows are in memory as a whole.
func (r resident) Only(...string) Selection { return r }

// Prepared implements Selection.
func (r resident) Prepared(ctx context.Context, fragment string) (Runs, error) {
	if fits, err := r.Table().Prepare(ctx, fragment); !fits || err != nil {
		return nil, err
	}
	return func(ctx context.Context) iter.Seq2[[]byte, error] { return r.Runs(ctx, fragment) }, nil
}
