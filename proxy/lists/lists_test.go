package lists_test

import (
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view/index"
	"vitrine/configs"
	"vitrine/proxy/api"
	"vitrine/proxy/lists"
	"vitrine/rules"
	"vitrine/rules/cite"
	"vitrine/rules/filter"
	"vitrine/rules/mark"
)

// TestViews: rows have words with and without a mark, and only lists index them before they are shown.
func TestViews(t *testing.T) {
	mapping, err := cite.Load(configs.CiteRules())
	if err != nil {
		t.Fatal(err)
	}
	for _, def := range lists.Views(api.Views(), mapping) {
		listed := slices.Contains([]string{rules.ViewActivities, rules.ViewPersons, rules.ViewProjects,
			rules.ViewEvents}, def.Name)
		searched := listed || def.Name == rules.ViewProposals || def.Name == rules.ViewJournals
		if (def.Words != nil) != searched || def.WordsLate == listed {
			t.Errorf("%s: has words: %v, late: %v", def.Name, def.Words != nil, def.WordsLate)
		}
		if !searched {
			continue
		}
		b := index.NewBuilder(def, index.NewBudget(1<<20, 0))
		var rows []bson.Raw
		for _, doc := range []bson.D{
			{{Key: "_id", Value: "shown"}, {Key: "displayname", Value: "Moths"}, {Key: "name", Value: "Moths"},
				{Key: "title", Value: "Moths"}, {Key: mark.Field, Value: bson.D{{Key: "public", Value: true}}}},
			{{Key: "_id", Value: "hidden"}, {Key: "displayname", Value: "Moths"}, {Key: "name", Value: "Moths"},
				{Key: "title", Value: "Moths"}},
			{{Key: "_id", Value: "odd"}, {Key: "displayname", Value: "Moths"}, {Key: "name", Value: "Moths"},
				{Key: "title", Value: "Moths"}, {Key: mark.Field, Value: true}},
		} {
			row, err := bson.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			rows = append(rows, row)
		}
		all, err := b.Load(rows).Select(t.Context(), filter.All())
		if err != nil {
			t.Fatal(err)
		}
		if found, err := all.Search(t.Context(), []string{"moth"}); err != nil || found.Count() != 3 {
			t.Errorf("%s: Search finds %v, %v", def.Name, found, err)
		}
	}
}
