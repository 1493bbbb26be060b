package materialize

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/units"
)

// UserUnits makes the view of unit memberships: a row for each person, as units.Names
// makes it. Whether a membership is past depends on the day of a request and is found
// when it is answered.
func UserUnits() Job {
	return Job{
		View:        rules.ViewUserUnits,
		Source:      "persons",
		Deps:        []string{"groups"},
		Fingerprint: "user_units/1",
		Rows: func(deps Deps) (RowFunc, error) {
			names := units.NewNames(deps["groups"])
			return func(_ context.Context, person bson.Raw) (bson.Raw, error) { return names.Row(person) }, nil
		},
	}
}
