package view

import (
	"context"
	"fmt"
	"iter"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/view/index"
	"vitrine/rules/views"
)

// ReadThrough returns a Foreign that evaluates filters on a view's source collection, which has the indexes for
// $text.
func ReadThrough(store origin.Source) index.Foreign {
	return func(ctx context.Context, name string, query bson.Raw) iter.Seq2[bson.RawValue, error] {
		return func(yield func(bson.RawValue, error) bool) {
			v, ok := views.Named(name)
			if !ok || v.Derived {
				yield(bson.RawValue{},
					fmt.Errorf("view %s is not made from single records: %w", name, origin.ErrUnsupported))
				return
			}
			for doc, err := range store.Find(ctx, v.Source,
				origin.Query{Filter: query, Projection: []string{"_id"}}) {
				if !yield(doc.Lookup("_id"), err) {
					return
				}
			}
		}
	}
}
