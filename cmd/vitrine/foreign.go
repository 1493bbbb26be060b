package main

import (
	"context"
	"fmt"
	"iter"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/view/index"
	"vitrine/configs"
	"vitrine/rules"
)

// foreignFilters lets a MongoDB answer what memory does not evaluate, such as
// $text, on the records that a view is made from: the indexes for it are there.
// The embedded store has nothing to add; such filters are refused.
func foreignFilters(cfg configs.Config, store origin.Source) index.Foreign {
	if embedded(cfg) {
		return nil
	}
	sources := map[string]string{
		rules.ViewActivities: "activities", rules.ViewPersons: "persons", rules.ViewProjects: "projects",
		rules.ViewProposals: "proposals", rules.ViewJournals: "journals", rules.ViewEvents: "conferences",
		rules.ViewDeadlines: "deadlines",
	}
	return func(ctx context.Context, name string, query bson.Raw) iter.Seq2[bson.RawValue, error] {
		return func(yield func(bson.RawValue, error) bool) {
			collection, ok := sources[name]
			if !ok {
				yield(bson.RawValue{}, fmt.Errorf("view %s has no records of its own: %w", name, origin.ErrUnsupported))
				return
			}
			for doc, err := range store.Find(ctx, collection, origin.Query{Filter: query, Projection: []string{"_id"}}) {
				if !yield(doc.Lookup("_id"), err) {
					return
				}
			}
		}
	}
}
