package response

import (
	"context"
	"iter"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/rules/filter"
	"vitrine/rules/raw"
)

// Selected says which rows a body is made of, so that the same can be asked again: an explanation does.
type Selected struct {
	On       *view.Snapshot // whose rows they are; nil if the body is not made of selected rows
	Filter   *filter.Filter
	Searches [][]string // the terms of each search
	Order    raw.Sort   // that the request asks for; nil if the rows have the list's own
	Count    int        // of the selected rows
	// Rows are on the answer's page. It is nil if the answer lists all selected rows, or none.
	Rows Rows[bson.Raw]
}

// Documents returns the documents of rows. They are read as they are ranged over: a Selected for an explanation costs
// other requests nothing.
func Documents[T interface{ Doc() bson.Raw }](rows Rows[T]) Rows[bson.Raw] {
	return func(ctx context.Context) iter.Seq2[bson.Raw, error] {
		return func(yield func(bson.Raw, error) bool) {
			for row, err := range rows(ctx) {
				var doc bson.Raw
				if err == nil {
					doc = row.Doc()
				}
				if !yield(doc, err) {
					return
				}
			}
		}
	}
}
