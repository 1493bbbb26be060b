package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/idkey"
	"vitrine/rules/filter"
	"vitrine/rules/raw"
)

// Find implements origin.Source. There are no indexes but the one on _id: an
// equality or $in on it looks documents up, everything else reads the collection.
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
	var docs iter.Seq2[bson.Raw, error]
	if keys, ok := idKeys(q.Filter); ok {
		docs = r.pick(ctx, collection, keys, match)
	} else {
		docs = whole(r.scan(ctx, collection, match, giveWay))
	}
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

// pick yields those documents with the given keys that match.
func (r *records) pick(ctx context.Context, collection string, keys [][]byte, match func(bson.Raw) (bool, error)) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		for _, key := range keys {
			doc, err := r.get(ctx, collection, key)
			if errors.Is(err, origin.ErrNotFound) || errors.Is(err, origin.ErrDamagedRecord) {
				continue
			}
			ok := err != nil
			if err == nil {
				ok, err = match(doc)
			}
			if err != nil {
				yield(nil, fmt.Errorf("look up in %s: %w", collection, err))
				return
			}
			if ok && !yield(doc, nil) {
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

// idKeys returns, in order, the keys that a filter confines _id to, and whether it
// does so. The filter's other conditions are still to be checked.
func idKeys(doc bson.Raw) (keys [][]byte, ok bool) {
	elements, err := doc.Elements()
	if err != nil {
		return nil, false
	}
	i := slices.IndexFunc(elements, func(e bson.RawElement) bool { return e.Key() == "_id" })
	if i < 0 {
		return nil, false
	}
	for _, id := range equalTo(elements[i].Value()) {
		if !plainID(id) {
			return nil, false
		}
		key, err := idkey.Of(id)
		if err != nil {
			return nil, false
		}
		keys, ok = append(keys, key), true
	}
	slices.SortFunc(keys, bytes.Compare)
	return slices.CompactFunc(keys, bytes.Equal), ok
}

// equalTo returns the values that a condition allows by equality: itself, that of
// $eq, those of $in. Nil means that it is another condition.
func equalTo(condition bson.RawValue) []bson.RawValue {
	doc, ok := condition.DocumentOK()
	if !ok {
		return []bson.RawValue{condition}
	}
	elements, err := doc.Elements()
	if err != nil {
		return nil
	}
	if len(elements) == 0 || !strings.HasPrefix(elements[0].Key(), "$") {
		return []bson.RawValue{condition}
	}
	for _, e := range elements {
		switch e.Key() {
		case "$eq":
			return []bson.RawValue{e.Value()}
		case "$in":
			if array, ok := e.Value().ArrayOK(); ok {
				values, _ := array.Values()
				return values
			}
		}
	}
	return nil
}

// plainID reports whether equality with v means just the document with that key:
// a regular expression matches others, null means missing, too, and an array
// compares with elements.
func plainID(v bson.RawValue) bool {
	switch v.Type {
	case bson.TypeRegex, bson.TypeNull, bson.TypeUndefined, bson.TypeArray:
		return false
	}
	return true
}
