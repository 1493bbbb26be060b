package view

import (
	"context"
	"fmt"
	"iter"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/view/index"
	"vitrine/rules"
)

// ReadThrough lets a database evaluate filters that memory does not, such as $text, on
// the records that a view is made from: the indexes for them are there.
func ReadThrough(store origin.Source) index.Foreign {
	return func(ctx context.Context, name string, query bson.Raw) iter.Seq2[bson.RawValue, error] {
		return func(yield func(bson.RawValue, error) bool) {
			v, ok := rules.ViewNamed(name)
			if !ok || v.Derived {
				yield(bson.RawValue{}, fmt.Errorf("view %s has no records of its own: %w", name, origin.ErrUnsupported))
				return
			}
			for doc, err := range store.Find(ctx, v.Source, origin.Query{Filter: query, Projection: []string{"_id"}}) {
				if !yield(doc.Lookup("_id"), err) {
					return
				}
			}
		}
	}
}
