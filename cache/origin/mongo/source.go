package mongo

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"vitrine/cache/origin"
)

// records is a collection of source records.
func (s *Store) records(name string) collection { return collection{s.source.Collection(name)} }

// Scan implements origin.Source.
func (s *Store) Scan(ctx context.Context, collection string) iter.Seq2[bson.Raw, error] {
	return s.Find(ctx, collection, origin.Query{})
}

// Sift implements origin.Source.
func (s *Store) Sift(ctx context.Context, collection string, want func(bson.Raw) bool) iter.Seq2[bson.Raw, error] {
	return s.find(ctx, collection, origin.Query{}, want)
}

// Find implements origin.Source; the server evaluates the query.
func (s *Store) Find(ctx context.Context, collection string, q origin.Query) iter.Seq2[bson.Raw, error] {
	return s.find(ctx, collection, q, everything)
}

func everything(bson.Raw) bool { return true }

func (s *Store) find(ctx context.Context, collection string, q origin.Query, want func(bson.Raw) bool) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		filter, o := findOptions(q)
		for doc, err := range sifted(ctx, s.records(collection), filter, o, want) {
			if err != nil {
				err = fmt.Errorf("find in %s: %w", collection, err)
			}
			if !yield(doc, err) {
				return
			}
		}
	}
}

// findOptions translates a query.
func findOptions(q origin.Query) (filter any, o *options.FindOptionsBuilder) {
	o = options.Find()
	filter = bson.D{}
	if q.Filter != nil {
		filter = q.Filter
	}
	if len(q.Sort) > 0 {
		o.SetSort(q.Sort).SetAllowDiskUse(true)
	}
	if q.Projection != nil && !slices.ContainsFunc(q.Projection, unprojectable) {
		fields := bson.D{{Key: "_id", Value: 1}}
		for _, name := range q.Projection {
			if name != "_id" {
				fields = append(fields, bson.E{Key: name, Value: 1})
			}
		}
		o.SetProjection(fields)
	}
	if q.Skip > 0 {
		o.SetSkip(q.Skip)
	}
	if q.Limit > 0 {
		o.SetLimit(q.Limit)
	}
	return filter, o
}

// unprojectable reports whether servers refuse a projection to a field of that name.
// Filters may name it all the same; whole documents are read for them.
func unprojectable(name string) bool { return name == "" || name[0] == '$' }

// documents yields copies of what a find returns; after an error nothing follows.
func documents(ctx context.Context, c collection, filter any, o *options.FindOptionsBuilder) iter.Seq2[bson.Raw, error] {
	return sifted(ctx, c, filter, o, everything)
}

// sifted is documents of those that want asks for.
func sifted(ctx context.Context, c collection, filter any, o *options.FindOptionsBuilder, want func(bson.Raw) bool) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		kind := queryError
		if asked, ok := filter.(bson.D); ok && len(asked) == 0 {
			kind = storeError
		}
		found, err := c.find(ctx, filter, o)
		if err != nil {
			yield(nil, kind(err))
			return
		}
		defer closeCursor(ctx, found)
		more, err := next(ctx, found)
		for ; more; more, err = next(ctx, found) {
			if want(found.Current) && !yield(bytes.Clone(found.Current), nil) {
				return
			}
		}
		if err != nil {
			yield(nil, kind(err))
		}
	}
}

// Lookup implements origin.Source.
func (s *Store) Lookup(ctx context.Context, collection string, id bson.RawValue) (bson.Raw, error) {
	doc, err := s.records(collection).findOne(ctx, byID(id))
	if err != nil {
		return nil, fmt.Errorf("look up %s in %s: %w", id.String(), collection, storeError(err))
	}
	return doc, nil
}

// byID is the filter for one document. An id that is a document goes with $eq, so
// that no field of it is taken for an operator.
func byID(id bson.RawValue) bson.D {
	if id.Type == bson.TypeEmbeddedDocument || id.Type == bson.TypeRegex {
		return bson.D{{Key: "_id", Value: bson.D{{Key: "$eq", Value: id}}}}
	}
	return bson.D{{Key: "_id", Value: id}}
}

// Collections implements origin.Source.
func (s *Store) Collections(ctx context.Context) ([]string, error) {
	names, err := collectionNames(ctx, s.source)
	if err != nil {
		return nil, fmt.Errorf("list collections: %w", storeError(err))
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		return strings.HasPrefix(name, origin.SidePrefix) || strings.HasPrefix(name, "system.")
	})
	slices.Sort(names)
	return names, nil
}
