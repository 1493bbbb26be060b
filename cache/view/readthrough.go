package view

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/rules"
	"vitrine/rules/filter"
	"vitrine/rules/raw"
	"vitrine/rules/views"
)

// Foreign asks a database which records of a view's source collection match a filter, and yields their ids.
type Foreign func(ctx context.Context, view string, query bson.Raw) iter.Seq2[bson.RawValue, error]

// ReadThrough returns a Foreign for the source collections of a store.
func ReadThrough(store origin.Source) Foreign {
	return func(ctx context.Context, name string, query bson.Raw) iter.Seq2[bson.RawValue, error] {
		v, ok := views.Named(name)
		if !ok || v.Derived {
			return func(yield func(bson.RawValue, error) bool) {
				yield(bson.RawValue{},
					fmt.Errorf("view %s is not made from single records: %w", name, origin.ErrUnsupported))
			}
		}
		return idsOf(store.Find(ctx, v.Source, origin.Query{Filter: query, Projection: []string{"_id"}}))
	}
}

// idsOf yields the ids of documents until the first error, which it yields last.
func idsOf(docs iter.Seq2[bson.Raw, error]) iter.Seq2[bson.RawValue, error] {
	return func(yield func(bson.RawValue, error) bool) {
		for doc, err := range docs {
			if !yield(doc.Lookup("_id"), err) {
				return
			}
		}
	}
}

// readThrough selects by a filter. If an expression meets a value that memory does not compute with, it selects
// again, and the database evaluates the caller's whole filter. It asks the database only in this case: a filter
// that memory evaluates takes no request.
func (s *storedRows) readThrough(f *filter.Filter,
	selected func(*filter.Filter) (Selection, error)) (Selection, error) {
	found, err := selected(f)
	if err != nil && s.foreign != nil && errors.Is(err, filter.ErrNotInMemory) {
		if foreign := f.Foreign(); foreign != nil {
			return selected(foreign)
		}
	}
	return found, err
}

// resolve returns a filter in which the database has evaluated what only it does: instead there is a condition on the
// ids that it has found. Ids without a row match nothing.
func (s *storedRows) resolve(ctx context.Context, f *filter.Filter) (*filter.Filter, error) {
	return f.Resolve(func(n *filter.ForeignNode) (filter.Node, error) {
		if s.foreign == nil {
			return nil, n.Refusal
		}
		var ids []bson.RawValue
		for id, err := range s.ids(ctx, n) {
			if refused, ok := errors.AsType[*rules.Error](err); ok && errors.Is(refused, rules.ErrWrongCall) {
				err = rules.Wrongf(n.Refusal.Param, n.Refusal.Where,
					"%s, and the database refuses it: %s", n.Refusal.Reason, refused.Reason)
			}
			if err != nil {
				return nil, s.moved(err)
			}
			ids = append(ids, id)
		}
		return &filter.Leaf{Path: raw.ByID.Path, Test: &filter.In{Values: raw.SortUnique(ids)}}, nil
	})
}

// ids asks the database which records match a filter: in the source collection as it is now, or else in the rows of
// this generation.
func (s *storedRows) ids(ctx context.Context, n *filter.ForeignNode) iter.Seq2[bson.RawValue, error] {
	if n.Source {
		return s.foreign(ctx, s.def.Name, n.Doc)
	}
	return func(yield func(bson.RawValue, error) bool) {
		// Nothing watches whether the store still has the rows of a view that is shown from memory.
		there, err := s.queries.Count(ctx, s.meta, nil)
		if err == nil && there < s.size {
			err = &rules.Error{Kind: rules.ErrUnavailable, Reason: fmt.Sprintf(
				"the store has %d of the %d rows of view %s", there, s.size, s.def.Name)}
		}
		if err != nil {
			yield(bson.RawValue{}, err)
			return
		}
		q := origin.Query{Filter: n.Doc, Projection: []string{"_id"}, AtOnce: true}
		idsOf(s.queries.Select(ctx, s.meta, q))(yield)
	}
}
