package mongo

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"vitrine/cache/origin"
	"vitrine/rules/raw"
)

// How queries on a view stay whole: rows of a generation are folded into the
// view's collection after the meta document has moved to it, and the generation
// before is folded in completely before the next one can begin. What was read
// while meta stood at a generation, with nothing staged, is therefore that
// generation: so meta is read before a query, and again behind each batch before
// any of it is handed on. The rows that are staged are not laid over the
// collection, as Rows does it: sorted and counted by the server they could not be
// had in bounded memory. Settling takes a moment, and is waited for.

const (
	// selectRows and selectBytes bound what is read between two looks at meta.
	selectRows, selectBytes = 256, 1 << 20
	// settleWait is the longest time between two looks at a generation being settled.
	settleWait = 250 * time.Millisecond
	// indexTime bounds how long indexes take to be made, which of many rows is much
	// longer than any other operation.
	indexTime = 30 * time.Minute
)

// Select implements origin.Queries; the server evaluates the query.
func (s *Store) Select(ctx context.Context, at origin.Meta, q origin.Query) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		more := true
		err := s.selected(ctx, at, q, func(doc bson.Raw) bool {
			more = yield(doc, nil)
			return more
		})
		if err != nil && more {
			yield(nil, fmt.Errorf("select from view %s: %w", at.View, err))
		}
	}
}

// selected hands rows on, batch by batch.
func (s *Store) selected(ctx context.Context, at origin.Meta, q origin.Query, take func(bson.Raw) bool) error {
	if err := s.settled(ctx, at); err != nil {
		return err
	}
	var batch []bson.Raw
	size := 0
	flush := func() (more bool, err error) {
		if err := s.still(ctx, at); err != nil {
			return false, err
		}
		for _, doc := range batch {
			if !take(doc) {
				return false, nil
			}
		}
		batch, size = batch[:0], 0
		return true, nil
	}
	query, o := selectOptions(q)
	for doc, err := range documents(ctx, s.side(at.View), query, o) {
		if err != nil {
			return err
		}
		row, err := decode(doc)
		if err != nil {
			return err
		}
		batch, size = append(batch, row.Doc), size+len(doc)
		if len(batch) < selectRows && size < selectBytes {
			continue
		}
		if more, err := flush(); err != nil || !more {
			return err
		}
	}
	_, err := flush()
	return err
}

// Count implements origin.Queries.
func (s *Store) Count(ctx context.Context, at origin.Meta, filter bson.Raw) (int, error) {
	n, err := s.count(ctx, at, filter)
	if err != nil {
		return 0, fmt.Errorf("count in view %s: %w", at.View, err)
	}
	return n, nil
}

func (s *Store) count(ctx context.Context, at origin.Meta, filter bson.Raw) (int, error) {
	if err := s.settled(ctx, at); err != nil {
		return 0, err
	}
	n, err := s.side(at.View).count(ctx, present(filter))
	if err != nil {
		return 0, queryError(err)
	}
	return int(n), s.still(ctx, at)
}

// selectOptions translates a query on a view. A tie in the order goes by _id.
func selectOptions(q origin.Query) (filter any, o *options.FindOptionsBuilder) {
	byID := false
	for _, e := range q.Sort {
		byID = byID || e.Key == "_id"
	}
	if !byID {
		q.Sort = append(q.Sort[:len(q.Sort):len(q.Sort)], bson.E{Key: "_id", Value: 1})
	}
	if q.Projection != nil {
		q.Projection = append(q.Projection[:len(q.Projection):len(q.Projection)], viewField)
	}
	_, o = findOptions(q)
	return present(q.Filter), o
}

// present narrows a filter to rows that are not tombstones.
func present(filter bson.Raw) bson.D {
	there := bson.D{{Key: pathGone, Value: bson.D{{Key: "$exists", Value: false}}}}
	if filter == nil {
		return there
	}
	return bson.D{{Key: "$and", Value: bson.A{filter, there}}}
}

// settled waits until a view is wholly at a generation; origin.ErrStale if it has
// gone on, or never was.
func (s *Store) settled(ctx context.Context, at origin.Meta) error {
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, settleWait) {
		d, err := s.readAt(ctx, at)
		if err != nil || d.Staged == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("generation %d is being settled: %w", d.Generation, ctx.Err())
		case <-time.After(wait):
		}
	}
}

// still is origin.ErrStale unless a view is at a generation yet.
func (s *Store) still(ctx context.Context, at origin.Meta) error {
	_, err := s.readAt(ctx, at)
	return err
}

// Settled implements origin.Queries.
func (s *Store) Settled(ctx context.Context, at origin.Meta) (bool, error) {
	d, err := s.readAt(ctx, at)
	if err != nil {
		return false, fmt.Errorf("look whether view %s is settled: %w", at.View, err)
	}
	return d.Staged == 0, nil
}

// readAt reads a view's meta, which must be at a generation.
func (s *Store) readAt(ctx context.Context, at origin.Meta) (metaDoc, error) {
	d, err := s.readMeta(ctx, at.View)
	if err == nil && (d.Epoch != at.Epoch || d.Generation != at.Generation) {
		err = origin.ErrStale
	}
	return d, err
}

// Index implements origin.Indexer. It creates only the missing indexes, so that a
// read-only user suffices where another user has created them.
func (s *Store) Index(ctx context.Context, view string, keys []bson.D) error {
	ctx, cancel := context.WithTimeout(ctx, indexTime)
	defer cancel()
	specs, err := s.side(view).indexes(ctx)
	if err != nil {
		return fmt.Errorf("list indexes of view %s: %w", view, storeError(err))
	}
	var errs []error
	for _, k := range keys { // one by one: what a server does not take leaves the others be
		raw, err := bson.Marshal(k)
		if err == nil && !slices.ContainsFunc(specs, func(spec driver.IndexSpecification) bool { return sameKeys(spec.KeysDocument, raw) }) {
			err = s.side(view).index(ctx, k)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("index view %s by %v: %w", view, k, storeError(err)))
		}
	}
	return errors.Join(errs...)
}

// sameKeys compares the keys of two indexes: the same paths, in the same directions,
// which servers may tell as another type of number.
func sameKeys(a, b bson.Raw) bool {
	as, err := a.Elements()
	if err != nil {
		return false
	}
	bs, err := b.Elements()
	return err == nil && slices.EqualFunc(as, bs, func(x, y bson.RawElement) bool {
		return x.Key() == y.Key() && raw.Compare(x.Value(), y.Value()) == 0
	})
}
