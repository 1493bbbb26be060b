package osiris

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/osiris"
)

// Source reads collections; origin.Store is one.
type Source interface {
	Scan(ctx context.Context, collection string) iter.Seq2[bson.Raw, error]
}

// Read reads collections of a database, each once. Its only errors are those of the
// source.
func Read(ctx context.Context, src Source, collections ...string) (osiris.Settings, error) {
	docs := make(map[string][]bson.Raw)
	for _, name := range slices.Compact(slices.Sorted(slices.Values(collections))) {
		for doc, err := range src.Scan(ctx, name) {
			if err != nil {
				return osiris.Settings{}, fmt.Errorf("read settings of the OSIRIS database: scan %s: %w", name, err)
			}
			docs[name] = append(docs[name], doc)
		}
	}
	return osiris.From(docs), nil
}
