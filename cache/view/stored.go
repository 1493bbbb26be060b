package view

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/view/index"
	"vitrine/rules/filter"
	"vitrine/rules/lru"
	"vitrine/rules/raw"
)

// HiddenField is a field that a store may keep beside the fields of a row.
const HiddenField = "_view"

// MovedError means that a view in the store was published again since the snapshot was taken. The caller should query
// again, on the snapshot that Set.Newer waits for.
type MovedError struct {
	// View is the name of the view.
	View string
	From origin.Meta // the snapshot that was queried
	Lost error       // why the rows of that snapshot cannot be used, so that the view is read again; nil if they can
}

// Error says why the query has to be made again.
func (e *MovedError) Error() string {
	if e.Lost != nil {
		return fmt.Sprintf("view %s is read again: %v", e.View, e.Lost)
	}
	return fmt.Sprintf("view %s has moved on from generation %d", e.View, e.From.Generation)
}

// Unwrap makes errors.Is find origin.ErrStale.
func (e *MovedError) Unwrap() error { return origin.ErrStale }

// rowQueries has the methods of origin.Queries by which requests read stored rows. Package circuit admits these, and
// no other methods of a store that read rows of a view, through its admission queue.
type rowQueries interface {
	Select(ctx context.Context, at origin.Meta, q origin.Query) iter.Seq2[bson.Raw, error]
	Count(ctx context.Context, at origin.Meta, filter bson.Raw) (int, error)
	Distinct(
		ctx context.Context, at origin.Meta, filter bson.Raw, fields []string, fn func(doc bson.Raw, rows int) error,
	) error
}

// storedRows has a view's rows in the store, at a generation.
type storedRows struct {
	def     *index.Definition
	builder *index.Builder // makes rows
	queries rowQueries
	foreign Foreign
	meta    origin.Meta
	size    int // number of rows: the meta's, unless the loss of some was accepted
	loss    *loss
	strip   func(bson.Raw) bson.Raw // Options.Strip; nil if rows keep all fields
	words   bool                    // the store finds rows by the words of the view's definition

	mu    sync.Mutex                        // guards known
	known *lru.Cache[string, []index.Group] // counts and facets of this generation, by their query
}

// Bounds of what storedRows knows: lists need the same counts and facets for each page, order and format. They
// bound the number of answers, of groups in one, and of the bytes of its query.
const mostKnown, mostKnownGroups, mostKnownQuery = 128, 256, 4096

// remember returns what ask has returned for a query before, or asks.
//
// Concurrent callers may ask twice, and get the same, since the rows of a generation do not change. kind tells
// counts from facets of the same query. What it returns must not be changed.
func (s *storedRows) remember(query bson.Raw, kind string, ask func() ([]index.Group, error)) ([]index.Group, error) {
	key := kind + "\x00" + string(query)
	s.mu.Lock()
	if known := s.known.Get(key); known != nil {
		defer s.mu.Unlock()
		return *known, nil
	}
	s.mu.Unlock()
	groups, err := ask()
	if err == nil && len(groups) <= mostKnownGroups && len(key) <= mostKnownQuery {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.known.Put(key, groups)
	}
	return groups, err
}

// Len implements rows.
func (s *storedRows) Len() int { return s.size }

// Has implements rows. Looking for a path would read all rows, and a wrong path only selects nothing.
func (s *storedRows) Has(context.Context, raw.Path) (bool, error) { return true, nil }

// First implements rows, by a query for one row.
func (s *storedRows) First(ctx context.Context, f *filter.Filter) (bson.Raw, error) {
	selected, err := s.selection(ctx, f)
	if err != nil {
		return nil, err
	}
	return first(ctx, selected)
}

// storedSelection reads a selection's rows from the store, and applies what the query cannot express as they stream.
type storedSelection struct {
	rows       *storedRows
	size       int // counted by storedRows.Select
	filter     filter.Node
	backtracks bool     // the filter has backtracking expressions
	query      bson.Raw // nil: everything
	exact      bool     // the query decides alone
	order      raw.Sort
	fields     []string // the only fields to read; nil: all there are

	searches [][]string // the terms of each Search
	levels   []int      // number of rows by how many terms of the last search are in their title
	relevant bool       // rows come by relevance
	level    *int       // yield only rows of this level; nil yields all
}

// Select implements rows, by a query that counts the rows.
func (s *storedRows) Select(ctx context.Context, f *filter.Filter) (Selection, error) {
	return s.search(ctx, f, nil, Uncounted)
}

// selection returns a selection that is not counted yet. Errors are rules.ErrUnavailable if rows are known to be
// missing, those of the database for what only it evaluates, and refusals of the filter.
func (s *storedRows) selection(ctx context.Context, f *filter.Filter) (*storedSelection, error) {
	if err := s.loss.err(); err != nil {
		return nil, err
	}
	f, err := s.resolve(ctx, f)
	if err != nil {
		return nil, err
	}
	sel := &storedSelection{rows: s, backtracks: f.Backtracks(), order: s.def.Order}
	sel.by(f.Root())
	return sel, nil
}

// by sets the filter of the selection, and adds the words that the store finds.
func (s *storedSelection) by(node filter.Node) {
	s.filter = node
	if s.query, s.exact = filter.Query(node, HiddenField); len(s.query) <= raw.MinDocument {
		s.query = nil
	}
	if s.rows.words {
		s.query = having(s.query, s.searches)
	}
}

// Count implements Selection.
func (s *storedSelection) Count() int { return s.size }

// By implements Selection. The store sorts the rows.
func (s *storedSelection) By(order raw.Sort) Selection {
	if order == nil {
		return s
	}
	by := *s
	by.relevant, by.order = false, order
	return &by
}

// Only implements Selection. The query then asks for these fields and those that the filter needs.
func (s *storedSelection) Only(fields ...string) Selection {
	only := *s
	only.fields = fields
	return &only
}

// Prepared implements Selection. Rows in the store have no prepared fragments.
func (s *storedSelection) Prepared(context.Context, string) (Runs, error) {
	return nil, nil
}

// reading returns the query for some top-level fields of the rows, nil meaning all, and those that the filter needs.
func (s *storedSelection) reading(fields []string) origin.Query {
	q := origin.Query{Filter: s.query}
	if fields == nil || s.matches() {
		return q // all fields, because the rules that find the words may read any
	}
	paths, all := filter.Paths(s.filter)
	switch {
	case s.exact:
		q.Projection = fields
	case all:
		q.Projection = slices.Clone(fields)
		for _, path := range paths {
			if name, _, _ := strings.Cut(path, "."); !slices.Contains(q.Projection, name) {
				q.Projection = append(q.Projection, name)
			}
		}
	}
	return q
}

// page yields the documents of a page. If the query does not decide alone, it also reads all rows before the page.
func (s *storedSelection) page(ctx context.Context, offset, limit int) iter.Seq2[bson.Raw, error] {
	if s.relevant {
		return s.ranked(ctx, offset, limit)
	}
	q := s.reading(s.fields)
	q.Sort = s.order
	if s.decided() && s.level == nil {
		q.Skip, q.Limit = int64(max(offset, 0)), int64(max(limit, 0))
		return s.documents(ctx, q, nil)
	}
	return func(yield func(bson.Raw, error) bool) {
		at := 0
		for doc, err := range s.documents(ctx, q, nil) {
			if at++; err == nil && at <= offset {
				continue
			}
			if !yield(doc, err) || err != nil || limit > 0 && at >= max(offset, 0)+limit {
				return
			}
		}
	}
}

// Rows implements Selection. By relevance, a page may take several queries.
func (s *storedSelection) Rows(ctx context.Context, offset, limit int) iter.Seq2[index.Row, error] {
	return func(yield func(index.Row, error) bool) {
		for doc, err := range s.page(ctx, offset, limit) {
			if !yield(s.rows.builder.Row(doc), err) || err != nil {
				return
			}
		}
	}
}

// Group implements Selection. It reads only the fields that it needs.
func (s *storedSelection) Group(ctx context.Context, field, unwind string) ([]index.Group, error) {
	fields := []string{field}
	if unwind != "" {
		fields = append(fields, unwind)
	}
	return index.GroupDocs(ctx, s.docs(ctx, fields), field, unwind)
}

// moved adds to an error of the store which view was published again.
func (s *storedRows) moved(err error) error {
	if errors.Is(err, origin.ErrStale) {
		return &MovedError{View: s.def.Name, From: s.meta}
	}
	return err
}
