package views

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/units"
)

// memberships are rows with the units of a person by name. A request decides which memberships are past.
var memberships = Rows{
	Deps:        []string{"groups"},
	Fingerprint: "user_units/1",
	Make: func(deps map[string][]bson.Raw) func(bson.Raw) (bson.Raw, error) {
		return units.NewNames(deps["groups"]).Row
	},
}
