package bolt

import (
	"context"
	"errors"
	"fmt"
	"iter"

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
func (r *records) Find(ctx context.Context, collection string, q origin.Query) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		docs, err := r.find(ctx, collection, q)
		if err != nil {
			yield(nil, fmt.Errorf("find in %s: %w", collection, err))
			return
		}
		skip, left := q.Skip, q.Limit
		for doc, err := range docs {
			if err == nil && skip > 0 {
				skip--
				continue
			}
			if err == nil && q.Projection != nil {
				doc, err = raw.Project(doc, q.Projection)
			}
			if left--; !yield(doc, err) || err != nil || left == 0 {
				return
			}
		}
	}
}

// find yields the documents that match, in order.
func (r *records) find(ctx context.Context, collection string, q origin.Query) (iter.Seq2[bson.Raw, error], error) {
	match := func(bson.Raw) (bool, error) { return true, nil }
	if q.Filter != nil {
		f, err := filter.FromBSON(q.Filter, filter.Options{})
		if errors.Is(err, filter.ErrNotInMemory) {
			return nil, fmt.Errorf("%w: %w", origin.ErrUnsupported, err)
		}
		if err != nil {
			return nil, err
		}
		match = f.Match
	}
	order, err := sortOrder(q.Sort)
	if err != nil {
		return nil, err
	}
	only, _ := onlyKey(q.Filter)
	docs := whole(r.scan(ctx, collection, scanBatch{match: match, only: only}, giveWay))
	if len(order) == 0 {
		return docs, nil
	}
	var all []bson.Raw
	for doc, err := range docs {
		if err != nil {
			return nil, err
		}
		all = append(all, doc)
	}
	order.Documents(all)
	return func(yield func(bson.Raw, error) bool) {
		for _, doc := range all {
			if !yield(doc, nil) {
				return
			}
		}
	}, nil
}

// whole leaves out damaged documents.
func whole(docs iter.Seq2[bson.Raw, error]) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		for doc, err := range docs {
			if !errors.Is(err, origin.ErrDamagedRecord) && !yield(doc, err) {
				return
			}
		}
	}
}

// sortOrder reads a sort specification: path and 1 or -1.
func sortOrder(spec bson.D) (raw.Sort, error) {
	var order raw.Sort
	for _, e := range spec {
		path, err := raw.ParsePath(e.Key)
		if err != nil {
			return nil, fmt.Errorf("sort: %w", err)
		}
		switch fmt.Sprint(e.Value) { // any type of number
		case "1":
			order = append(order, raw.SortField{Path: path})
		case "-1":
			order = append(order, raw.SortField{Path: path, Desc: true})
		default:
			return nil, fmt.Errorf("sort by %s: the direction is 1 or -1, not %v", e.Key, e.Value)
		}
	}
	return order, nil
}

// onlyKey returns the key of the one document that a filter confines _id to by equality,
// and whether it does so. The filter's other conditions are still to be checked.
func onlyKey(filter bson.Raw) (key []byte, ok bool) {
	id, err := filter.LookupErr("_id")
	if operators, is := id.DocumentOK(); err == nil && is {
		id, err = operators.LookupErr("$eq")
	}
	if err != nil {
		return nil, false
	}
	switch id.Type {
	case bson.TypeRegex, bson.TypeNull, bson.TypeUndefined, bson.TypeArray: // equality finds others, too
		return nil, false
	}
	key, err = idkey.Of(id)
	return key, err == nil
}
