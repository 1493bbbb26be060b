package materialize

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/display"
)

// Projects makes the projects view: the stored records, with the names of the
// people and organisations they refer to under display.Reserved. Labels depend on
// the language of a request and are given when it is answered.
func Projects() Job { return resolved(rules.ViewProjects, "projects") }

// resolved makes jobs whose rows are stored records with resolved names.
func resolved(view, collection string) Job {
	return Job{
		View:        view,
		Source:      collection,
		Deps:        []string{"organizations", "persons"},
		Fingerprint: "resolved/2",
		Rows: func(deps Deps) (RowFunc, error) {
			directory := display.NewDirectory(deps["organizations"], deps["persons"])
			return func(_ context.Context, record bson.Raw) (bson.Raw, error) {
				names := directory.Resolve(record)
				if names == nil {
					return display.Strip(record), nil
				}
				return withField(record, display.Reserved, names)
			}, nil
		},
	}
}
