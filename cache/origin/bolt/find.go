package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/idkey"
	"vitrine/cache/origin/internal/wrap"
	"vitrine/rules/filter"
	"vitrine/rules/raw"
)

// From query to documents: compile makes a filter of the query, onlyKeys looks for an _id that spares reading the
// collection, scan (source.go) applies the filter inside the read transactions, and page cuts the result. Select
// (select.go) shares compile and page.

// Find implements origin.Source. Only for an equality or a list of _id it reads single documents; any other filter
// reads the collection. A sort holds all matching documents in memory. Find returns origin.ErrUnsupported for
// filters that package filter cannot evaluate, and leaves damaged documents out.
func (s source) Find(ctx context.Context, collection string, q origin.Query) iter.Seq2[bson.Raw, error] {
	return wrap.Each(page(q, s.query(ctx, collection, q)), "find in %s", collection)
}

// page applies a query's Skip, Limit and Projection to matching documents. It ends at the first error. A Limit of 0
// never ends it: left then counts down from 0 and is not 0 again. The projection comes last, because the sort needs
// fields that the caller may not.
func page(q origin.Query, docs iter.Seq2[bson.Raw, error]) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
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

// query yields the documents of q. The documents of a sorted query are all in memory at once.
func (s source) query(ctx context.Context, collection string, q origin.Query) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		f, err := compile(q.Filter, filter.Options{})
		// There is no server to ask, unlike in package mongo.
		if errors.Is(err, filter.ErrNotInMemory) {
			err = fmt.Errorf("%w: %w", origin.ErrUnsupported, err)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		var all []bson.Raw
		// Each key is a scan of its own. The keys are in order, so the documents come in the order of their _id, as
		// from a scan of the whole collection.
		for _, only := range onlyKeys(q.Filter) {
			for doc, err := range s.file.scan(ctx, collection, only, f.Match, runtime.Gosched) {
				switch {
				case errors.Is(err, origin.ErrDamagedRecord):
				case err == nil && len(q.Sort) > 0:
					all = append(all, doc)
				case !yield(doc, err):
					return
				}
			}
		}
		q.Sort.Documents(all)
		for _, doc := range all {
			if !yield(doc, nil) {
				return
			}
		}
	}
}

// compile returns the filter of a query; nil matches all. The caller chooses the limits: a filter may come from a
// client.
func compile(query bson.Raw, limits filter.Options) (*filter.Filter, error) {
	if query == nil {
		return filter.All(), nil
	}
	return filter.FromBSON(query, limits)
}

// onlyKeys returns, in order, the keys of the only documents that a filter can match because it demands an _id by
// equality or a list, and otherwise one nil. The caller still checks the filter. For example, {"_id": {"$in": [2,
// 1, 1.0]}} gives the keys of 1 and 2, and {"name": "x"} gives one nil. The keys may be too many, never too few: a
// filter may combine the _id with other conditions.
func onlyKeys(filter bson.Raw) (keys [][]byte) {
	all := [][]byte{nil}
	id, err := filter.LookupErr("_id")
	if err != nil {
		return all
	}
	ids := []bson.RawValue{id}
	if operators, is := id.DocumentOK(); is {
		ids = ids[:0]
		if one, err := operators.LookupErr("$eq"); err == nil {
			ids = append(ids, one)
		} else {
			ids = slices.AppendSeq(ids, raw.Elements(operators.Lookup("$in")))
		}
	}
	for _, id := range ids {
		switch id.Type {
		case bson.TypeRegex, bson.TypeNull, bson.TypeUndefined, bson.TypeArray: // these values also match other ids
			return all
		}
		key, err := idkey.Of(id)
		if err != nil {
			return all
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return all
	}
	slices.SortFunc(keys, bytes.Compare)
	return slices.CompactFunc(keys, bytes.Equal)
}
