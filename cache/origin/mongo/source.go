package mongo

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/wrap"
	"vitrine/rules/raw"
)

func (s *Store) Scan(ctx context.Context, name string) iter.Seq2[bson.Raw, error] {
	return s.find(ctx, name, origin.Query{}, nil)
}

func (s *Store) Sift(ctx context.Context, name string, want func(bson.Raw) bool) iter.Seq2[bson.Raw, error] {
	return s.find(ctx, name, origin.Query{}, want)
}

// Find implements origin.Source; the server evaluates the query.
func (s *Store) Find(ctx context.Context, name string, q origin.Query) iter.Seq2[bson.Raw, error] {
	return s.find(ctx, name, q, nil)
}

func (s *Store) find(ctx context.Context, name string, q origin.Query, want func(bson.Raw) bool) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		var filter any = bson.D{}
		if q.Filter != nil {
			filter = q.Filter
		}
		found := s.collection(name).documents(ctx, filter, findOptions(q))
		for doc, err := range wrap.Each(found, "find in %s", name) {
			if err == nil && want != nil && !want(doc) {
				continue
			}
			if !yield(bytes.Clone(doc), err) {
				return
			}
		}
	}
}

// Version implements origin.Versioner. The server knows the count, and finds the greatest value by an index.
func (s *Store) Version(ctx context.Context, name, field string) (version string, exact bool, err error) {
	defer wrap.Error(&err, "version of %s", name)
	count, err := request(ctx, s.gate, storeError, func(ctx context.Context) (int64, error) {
		return s.source.Collection(name).EstimatedDocumentCount(ctx)
	})
	if err != nil {
		return "", false, err
	}
	version = strconv.FormatInt(count, 10)
	for _, path := range slices.Compact([]string{"_id", cmp.Or(field, "_id")}) {
		order := raw.SortField{Path: raw.PathOf(path), Desc: true}
		newest := origin.Query{Sort: raw.Sort{order}, Projection: order.Path.Parts()[:1], Limit: 1}
		for doc, err := range s.Find(ctx, name, newest) {
			if err != nil {
				return "", false, err
			}
			version += " " + raw.Key(order.Key(doc))
		}
	}
	return version, false, nil
}

func findOptions(q origin.Query) *options.FindOptionsBuilder {
	o := options.Find()
	if len(q.Sort) > 0 {
		o.SetSort(sortKeys(q.Sort)).SetAllowDiskUse(true)
	}
	refused := func(name string) bool { return name == "" || name[0] == '$' } // by servers: whole documents instead
	if q.Projection != nil && !slices.ContainsFunc(q.Projection, refused) {
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
	return o
}

func sortKeys(order raw.Sort) bson.D {
	keys := make(bson.D, len(order))
	for i, field := range order {
		if keys[i] = (bson.E{Key: field.Path.String(), Value: 1}); field.Desc {
			keys[i].Value = -1
		}
	}
	return keys
}

// byID returns the filter for one document. Without $eq, the server would take the fields of an _id for operators.
func byID(id bson.RawValue) bson.D {
	if id.Type == bson.TypeEmbeddedDocument || id.Type == bson.TypeRegex {
		return is(bson.D{{Key: "$eq", Value: id}})
	}
	return is(id)
}

func (s *Store) Collections(ctx context.Context) (names []string, err error) {
	defer wrap.Error(&err, "list collections")
	names, err = request(ctx, s.gate, storeError, func(ctx context.Context) ([]string, error) {
		return s.source.ListCollectionNames(ctx, bson.D{})
	})
	names = slices.DeleteFunc(names, func(name string) bool {
		return strings.HasPrefix(name, origin.SidePrefix) || strings.HasPrefix(name, "system.")
	})
	slices.Sort(names)
	return names, err
}
