package mongo

import (
	"bytes"
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

// Scan implements origin.Source. The server knows no damaged records, so there is no origin.DamagedError.
func (s *Store) Scan(ctx context.Context, name string) iter.Seq2[bson.Raw, error] {
	return find(ctx, s.collection(name), origin.Query{}, nil)
}

// Sift implements origin.Source. want runs here, on the driver's memory; only accepted documents are copied.
func (s *Store) Sift(ctx context.Context, name string, want func(bson.Raw) bool) iter.Seq2[bson.Raw, error] {
	return find(ctx, s.collection(name), origin.Query{}, want)
}

// Find implements origin.Source; the server evaluates the query.
func (s *Store) Find(ctx context.Context, name string, q origin.Query) iter.Seq2[bson.Raw, error] {
	return find(ctx, s.collection(name), q, nil)
}

// find yields copies of the documents that match a query and that want accepts; a nil want accepts all.
func find(ctx context.Context, c collection, q origin.Query, want func(bson.Raw) bool) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		var filter any = bson.D{}
		if q.Filter != nil {
			filter = q.Filter
		}
		found := c.documents(ctx, filter, findOptions(q))
		for doc, err := range wrap.Each(found, "find in %s", c.inner.Name()) {
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
func (s *Store) Version(ctx context.Context, name, field string) (version origin.Version, err error) {
	defer wrap.Error(&err, "version of %s", name)
	estimate, err := request(ctx, s.gate, storeError, func(ctx context.Context) (int64, error) {
		return s.source.Collection(name).EstimatedDocumentCount(ctx)
	})
	if err != nil {
		return version, err
	}
	version.Text = strconv.FormatInt(estimate, 10)
	if version.ID, err = greatest(ctx, s, name, "_id"); err == nil && field != "" {
		version.Field, err = greatest(ctx, s, name, field)
	}
	version.Count = func(ctx context.Context, filter bson.Raw) (int, error) {
		return count(ctx, s.collection(name), filter)
	}
	version.Text += " " + raw.Key(version.ID) + " " + raw.Key(version.Field)
	return version, err
}

// greatest returns the greatest value of a field in a collection, or the zero value if the collection is empty.
func greatest(ctx context.Context, s *Store, name, field string) (value bson.RawValue, err error) {
	order := raw.SortField{Path: raw.PathOf(field), Desc: true}
	newest := origin.Query{Sort: raw.Sort{order}, Projection: order.Path.Parts()[:1], Limit: 1}
	for doc, err := range s.Find(ctx, name, newest) {
		if err != nil {
			return value, err
		}
		value = order.Key(doc)
	}
	return value, nil
}

// count counts the documents of a source collection that match a filter. The count that a server maintains is not
// exact: after a crash it may be wrong, and with shards it includes documents that are being moved. So for all
// documents the server counts the keys of the index on _id. It sends only the number.
func count(ctx context.Context, c collection, filter bson.Raw) (n int, err error) {
	defer wrap.Error(&err, "count %s", c.inner.Name())
	all := options.Count()
	if filter == nil {
		filter, _ = bson.Marshal(bson.D{}) // cannot fail
		all.SetHint("_id_")
	}
	counted, err := request(ctx, c.store.gate, storeError, func(ctx context.Context) (int64, error) {
		return c.inner.CountDocuments(ctx, filter, all)
	})
	return int(counted), err
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

// Collections implements origin.Source. MongoDB views are among them.
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
