package bolt

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/idkey"
	"vitrine/rules/filter"
	"vitrine/rules/raw"
)

// Find implements origin.Source. There are no indexes but the one on _id: an
// equality on it reads one document, everything else reads the collection.
// A sort holds all matching documents in memory. What package filter refuses to
// evaluate is origin.ErrUnsupported. Damaged documents are left out.
func (s *Store) Find(ctx context.Context, collection string, q origin.Query) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		if err := s.find(ctx, collection, q, paged(q, yield)); err != nil {
			yield(nil, fmt.Errorf("find in %s: %w", collection, err))
		}
	}
}

// takeFunc takes a document; false when no more are wanted.
type takeFunc func(doc bson.Raw) (more bool, err error)

// paged yields what a query wants of the documents that match it, in its order: those of
// its page, with the fields of its projection.
func paged(q origin.Query, yield func(bson.Raw, error) bool) takeFunc {
	skip, left := q.Skip, q.Limit
	return func(doc bson.Raw) (more bool, err error) {
		if skip > 0 {
			skip--
			return true, nil
		}
		if q.Projection != nil {
			if doc, err = raw.Project(doc, q.Projection); err != nil {
				return false, err
			}
		}
		left--
		return yield(doc, nil) && left != 0, nil
	}
}

// find hands the documents that match to take, in order.
func (s *Store) find(ctx context.Context, collection string, q origin.Query, take takeFunc) error {
	var only []byte
	var match func(bson.Raw) (bool, error)
	if q.Filter != nil {
		f, err := filter.FromBSON(q.Filter, filter.Options{})
		if errors.Is(err, filter.ErrNotInMemory) {
			return fmt.Errorf("%w: %w", origin.ErrUnsupported, err)
		}
		if err != nil {
			return err
		}
		only, match = onlyKey(q.Filter), f.Match
	}
	var all []bson.Raw
	for doc, err := range s.scan(ctx, collection, only, match, runtime.Gosched) {
		switch {
		case errors.Is(err, origin.ErrDamagedRecord):
		case err != nil:
			return err
		case len(q.Sort) > 0:
			all = append(all, doc)
		default:
			if more, err := take(doc); err != nil || !more {
				return err
			}
		}
	}
	q.Sort.Documents(all)
	for _, doc := range all {
		if more, err := take(doc); err != nil || !more {
			return err
		}
	}
	return nil
}

// onlyKey returns the key of the one document that a filter confines _id to by equality;
// nil if it does not. The filter's other conditions are still to be checked.
func onlyKey(filter bson.Raw) []byte {
	id, err := filter.LookupErr("_id")
	if operators, is := id.DocumentOK(); err == nil && is {
		id, err = operators.LookupErr("$eq")
	}
	if err != nil {
		return nil
	}
	switch id.Type {
	case bson.TypeRegex, bson.TypeNull, bson.TypeUndefined, bson.TypeArray: // equality finds others, too
		return nil
	}
	key, err := idkey.Of(id)
	if err != nil {
		return nil
	}
	return key
}
