package view

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/bits-and-blooms/bitset"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/rules/filter"
	"vitrine/rules/raw"
)

// hiddenField is what a store may keep beside the fields of a row.
const hiddenField = "_view"

// A batch of rows from the store is in memory at a time: so many rows or bytes.
const (
	windowRows  = blockRows
	windowBytes = 1 << 20
)

// MovedError tells that a view which stays in the store was published anew since
// the snapshot was taken. Whoever asked should ask again, of the snapshot that
// Set.Newer waits for.
type MovedError struct {
	View string
	From origin.Meta // of the snapshot that was asked
}

// Error implements error.
func (e *MovedError) Error() string {
	return fmt.Sprintf("view %s has gone on from generation %d", e.View, e.From.Generation)
}

// Unwrap says that it is an origin.ErrStale.
func (e *MovedError) Unwrap() error { return origin.ErrStale }

// newStored makes the snapshot of a view that stays in the store.
func newStored(def *Definition, b *budget, store origin.Queries, meta origin.Meta) *Snapshot {
	return &Snapshot{def: def, budget: b, store: store, live: bitset.New(0), count: meta.Rows}
}

// storedSelection has a selection's rows from the store. What the query does not
// decide, the filter does while rows are streamed.
type storedSelection struct {
	snap   *Snapshot
	filter filter.Node
	query  bson.Raw // nil: everything
	exact  bool     // the query decides alone
	order  bson.D
	fields []string // all that is asked of the rows; nil: all there is
}

// selectStored writes a filter for the store.
func (s *Snapshot) selectStored(ctx context.Context, f *filter.Filter) (*Selection, error) {
	node, err := s.resolve(ctx, f.Root())
	if err != nil {
		return nil, err
	}
	sel := &storedSelection{snap: s, filter: node, order: sortKeys(s.def.Order)}
	if sel.query, sel.exact = filter.Query(node, hiddenField); len(sel.query) <= len(emptyDocument) {
		sel.query = nil
	}
	return &Selection{snap: s, stored: sel}, nil
}

var emptyDocument = bson.Raw{5, 0, 0, 0, 0}

// sortKeys writes an order, ties by _id.
func sortKeys(order raw.Sort) bson.D {
	var keys bson.D
	for _, field := range order {
		direction := 1
		if field.Desc {
			direction = -1
		}
		keys = append(keys, bson.E{Key: field.Path.String(), Value: direction})
		if field.Path.String() == "_id" {
			return keys
		}
	}
	return append(keys, bson.E{Key: "_id", Value: 1})
}

// resolve puts the ids of the records that match into the place of what only the
// database evaluates.
func (s *Snapshot) resolve(ctx context.Context, n filter.Node) (filter.Node, error) {
	switch n := n.(type) {
	case *filter.ForeignNode:
		return s.resolveForeign(ctx, n)
	case *filter.AndNode:
		nodes := slices.Clone(n.Nodes)
		for i := range nodes {
			var err error
			if nodes[i], err = s.resolve(ctx, nodes[i]); err != nil {
				return nil, err
			}
		}
		return &filter.AndNode{Nodes: nodes}, nil
	}
	return n, nil // a foreign node is a whole filter: it stands alone, or among those joined to it
}

func (s *Snapshot) resolveForeign(ctx context.Context, n *filter.ForeignNode) (filter.Node, error) {
	path, err := raw.ParsePath("_id")
	if err != nil {
		return nil, err
	}
	var ids []bson.RawValue
	for id, err := range s.answered(ctx, n) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	slices.SortFunc(ids, raw.Compare)
	ids = slices.CompactFunc(ids, func(a, b bson.RawValue) bool { return raw.Compare(a, b) == 0 })
	return &filter.Leaf{Path: path, Test: &filter.In{Values: ids}}, nil
}

// storedBy is By for rows in the store.
func (s *Selection) storedBy(order raw.Sort) *Selection {
	by, sel := *s, *s.stored
	sel.order = sortKeys(order)
	by.stored = &sel
	return &by
}

// count counts the rows; those that the query does not decide are read for it, as
// far as the filter looks at them.
func (s *storedSelection) count(ctx context.Context) (n int, err error) {
	switch {
	case s.exact && s.query == nil:
		return s.snap.count, nil
	case s.exact:
		n, err = s.snap.store.Count(ctx, s.snap.meta, s.query)
		return n, s.told(err)
	}
	q := origin.Query{Filter: s.query, Projection: s.projection([]string{})}
	for _, err := range s.documents(ctx, q) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// projection adds to the fields that are wanted, nil being all, those that the filter
// is still to be asked about.
func (s *storedSelection) projection(wanted []string) []string {
	if wanted == nil || s.exact {
		return wanted
	}
	fields, ok := filter.Fields(s.filter)
	if !ok {
		return nil
	}
	for _, name := range wanted {
		if !slices.Contains(fields, name) {
			fields = append(fields, name)
		}
	}
	return fields
}

// documents yields the rows that answer a query and match the filter.
func (s *storedSelection) documents(ctx context.Context, q origin.Query) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		for doc, err := range s.snap.store.Select(ctx, s.snap.meta, q) {
			if err == nil && !s.exact {
				var hit bool
				if hit, err = s.filter.Match(doc); err == nil && !hit {
					continue
				}
			}
			if err != nil {
				yield(nil, s.told(err))
				return
			}
			if !yield(doc, nil) {
				return
			}
		}
	}
}

// page yields the documents of a page. Where the query does not decide, all rows
// before the page are read to be counted.
func (s *storedSelection) page(ctx context.Context, offset, limit int) iter.Seq2[bson.Raw, error] {
	q := origin.Query{Filter: s.query, Sort: s.order, Projection: s.projection(s.fields)}
	if s.exact {
		q.Skip, q.Limit = int64(max(offset, 0)), int64(max(limit, 0))
		return s.documents(ctx, q)
	}
	return func(yield func(bson.Raw, error) bool) {
		at := 0
		for doc, err := range s.documents(ctx, q) {
			if at++; err == nil && at <= offset {
				continue
			}
			if !yield(doc, err) || err != nil || limit > 0 && at >= max(offset, 0)+limit {
				return
			}
		}
	}
}

// rows yields a page's rows, each in the snapshot of a batch.
func (s *storedSelection) rows(ctx context.Context, offset, limit int) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		var batch []bson.Raw
		size := 0
		flush := func() bool {
			window := newSnapshot(s.snap.def, s.snap.budget, []*segment{newSegment(s.snap.budget, batch, len(s.snap.def.Fragments))})
			for slot := range Slot(len(batch)) {
				if !yield(Row{window, slot}, nil) {
					return false
				}
			}
			batch, size = nil, 0
			return true
		}
		for doc, err := range s.page(ctx, offset, limit) {
			if err != nil {
				yield(Row{}, err)
				return
			}
			batch, size = append(batch, doc), size+len(doc)
			if (len(batch) >= windowRows || size >= windowBytes) && !flush() {
				return
			}
		}
		flush()
	}
}

// group is Group of rows in the store, which are read as far as the fields need.
func (s *storedSelection) group(ctx context.Context, field, unwind string) ([]Group, error) {
	parts := strings.Split(field, ".")
	wanted := []string{parts[0]}
	if unwind != "" {
		wanted = append(wanted, unwind)
	}
	q := origin.Query{Filter: s.query, Projection: s.projection(wanted)}
	places := map[string]int{}
	var groups []Group
	for doc, err := range s.documents(ctx, q) {
		if err != nil {
			return nil, err
		}
		unwound(doc, parts, unwind, func(v bson.RawValue) {
			if v.Type == 0 || v.Type == bson.TypeUndefined {
				v = bson.RawValue{Type: bson.TypeNull}
			}
			key := idKey(v)
			at, known := places[key]
			if !known {
				at = len(groups)
				places[key] = at
				groups = append(groups, Group{Value: bson.RawValue{Type: v.Type, Value: slices.Clone(v.Value)}})
			}
			groups[at].Count++
		})
	}
	return byCount(groups), nil
}

// told says which view has gone on.
func (s *storedSelection) told(err error) error {
	if errors.Is(err, origin.ErrStale) {
		return &MovedError{View: s.snap.def.Name, From: s.snap.meta}
	}
	return err
}

// Newer waits for a snapshot of a view that has gone on. The error is the context's.
func (s *Set) Newer(ctx context.Context, moved *MovedError) error {
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		s.Notify(moved.View)
		if snap, err := s.Snapshot(moved.View); err != nil || snap.meta.Generation != moved.From.Generation || snap.meta.Epoch != moved.From.Epoch {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}
